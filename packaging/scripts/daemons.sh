# shellcheck shell=bash disable=SC2154  # $state is set by who sources this
# Daemons of the quickstart: a pid file names process and start time, so that a number used again is never signalled.

# Start time of a process in ticks since boot; nothing if it is gone or a zombie.
start_time() {
  sed -n 's/^.*) \([^ZX]\) //p' "/proc/$1/stat" 2> /dev/null | cut -d' ' -f19
}

daemon_runs() {
  local pid start
  [ -e "$state/pid/$1" ] || return 1
  read -r pid start < "$state/pid/$1" || return 1
  [ -n "$start" ] && [ "$(start_time "$pid")" = "$start" ]
}

# start_daemon NAME COMMAND...: unless it runs.
start_daemon() {
  local name=$1
  shift
  daemon_runs "$name" && return 0
  setsid "$@" < /dev/null >> "$state/log/$name" 2>&1 9>&- &
  echo "$! $(start_time $!)" > "$state/pid/$name"
}

# TERM, and KILL for one that does not go.
stop_daemon() {
  local pid turn
  if daemon_runs "$1"; then
    read -r pid _ < "$state/pid/$1"
    kill "$pid" 2> /dev/null || true
    for ((turn = 0; turn < 200; turn++)); do
      daemon_runs "$1" || break
      sleep 0.05
    done
    if daemon_runs "$1"; then kill -KILL "$pid" 2> /dev/null || true; fi
  fi
  rm -f "$state/pid/$1"
}

# wait_until SECONDS WHAT COMMAND...: until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt "$deadline" ] || die "not within time: $what; the daemons' logs are in $state/log"
    sleep 0.1
  done
}

port_is_used() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# Kills what is left of the jobs of a cluster: its step daemons, found by their program, and the processes of jobs, found by
# the variable that they carry.
kill_left() {
  local entry pid
  [ -n "$1" ] || return 0
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    if [[ $(readlink "$entry/exe" 2> /dev/null) == "$state/bin/artel-stepd"* ]] ||
      { tr '\0' '\n' < "$entry/environ" | grep -qx "ARTEL_CLUSTER=$1"; } 2> /dev/null; then
      kill -KILL "$pid" 2> /dev/null || true
    fi
  done
}
