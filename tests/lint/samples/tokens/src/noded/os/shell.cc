auto now = std::chrono::system_clock::now();
int rc = system(line);
int ours = parser.system(line);
