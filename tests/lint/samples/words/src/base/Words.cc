// see ../shared/notes
// read from /work/main
// fixes issue 12
// TODO later
int x; 
// scratch/work/here and trials are fine
int y;