#!/bin/sh
# Ends the hosts of a run and removes what they leave, when its standard input ends: whoever holds the other end has asked
# for it, or has died. Lines on standard input: "process PID", "cgroup DIRECTORY", "folder DIRECTORY".
trap '' INT TERM HUP
processes='' cgroups='' folders=''
while read -r kind what; do
  case $kind in
    process) processes="$processes $what" ;;
    cgroup) cgroups="$cgroups $what" ;;
    folder) folders="$folders $what" ;;
  esac
done
# The first process of a PID namespace takes all others with it.
for process in $processes; do kill -KILL "$process" 2>/dev/null; done
failed=0
for cgroup in $cgroups; do
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null
    [ -d "$cgroup" ] || continue 2
    sleep 0.5
  done
  echo "cannot remove the cgroup $cgroup: it has processes $(find "$cgroup" -name cgroup.procs -exec cat {} + | tr '\n' ' ')" >&2
  failed=1
done
for folder in $folders; do rm -rf --one-file-system "$folder" || failed=1; done
exit $failed
