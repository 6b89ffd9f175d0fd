#!/bin/sh
# Ends what a process left behind. Standard input is a pipe whose other end the owner holds until it dies, whatever
# kills it. Arguments are what it guards at first: "group PID" and "folder PATH". Lines: "+group PID" and "+folder PATH"
# put something under guard, "-group PID" and "-folder PATH" release it.
# At end of file the groups that are left get SIGINT, after three seconds SIGKILL, and the folders are removed.
trap '' INT TERM HUP QUIT

newline='
'
guarded=''
for entry; do guarded=$guarded$entry$newline; done
while IFS= read -r line; do
  entry=${line#?}
  case $line in
    +*) guarded=$guarded$entry$newline ;;
    -*) guarded=$(printf '%s' "$guarded" | grep -vxF -e "$entry")${newline} ;;
  esac
done

each() { # each KIND COMMAND...: runs the command with every guarded entry of that kind as its last argument
  kind=$1
  shift
  printf '%s' "$guarded" | while IFS= read -r entry; do
    case $entry in "$kind "*) "$@" "${entry#"$kind" }" ;; esac
  done
}
signal_group() { kill -s "$1" -- "-$2" 2>/dev/null; }
print_if_alive() { kill -s 0 -- "-$1" 2>/dev/null && echo "$1"; }

await_groups() { # up to three seconds
  tries=0
  while [ $tries -lt 30 ] && [ -n "$(each group print_if_alive)" ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
}
remove() { # a process that is still ending may put another file into it meanwhile
  tries=0
  while ! rm -rf -- "$1" && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
}

each group signal_group INT
await_groups
each group signal_group KILL
await_groups
each folder remove
