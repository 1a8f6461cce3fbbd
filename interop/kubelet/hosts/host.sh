#!/bin/sh
# The first process of a host: makes the namespaces that it finds itself in a machine of their own, says "ready" and waits.
# Usage: host.sh NAME FOLDER PROGRAMS CGROUP-HIERARCHIES
# FOLDER is on a real disk: what a node's containers write goes there. PROGRAMS is a tree of files to add to the host.
# Without hierarchies it is a host that runs no containers: it has the files of this machine.
set -eu
name=$1 folder=$2 programs=$3 hierarchies=$4

hostname "$name"
ip link set lo up

if [ -n "$hierarchies" ]; then
  # All of / again, with what the host writes in memory; below $folder, because overlayfs refuses layers inside each other.
  mount -t tmpfs tmpfs "$folder/memory"
  cd "$folder/memory"
  mkdir upper work root
  mount -t overlay overlay -o lowerdir=/,upperdir="$PWD/upper",workdir="$PWD/work" root
  cd root
  tar -C "$programs" -c . | tar -x --keep-directory-symlink
  rm -f usr/bin/systemctl
  for family in iptables ip6tables; do
    for program in "$family" "$family-save" "$family-restore"; do ln -sf xtables-nft-multi "usr/sbin/$program"; done
  done
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --rbind /dev dev
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  for path in var/lib/containerd var/lib/kubelet var/log; do
    mkdir -p "$path" "$folder/disk/$path"
    mount --bind "$folder/disk/$path" "$path"
  done
  for path in "$folder" "$programs"; do
    mkdir -p ".$path"
    mount --bind "$path" ".$path"
  done
  # The cgroup namespace shows each hierarchy from this host's own cgroup down.
  mount -t tmpfs tmpfs sys/fs/cgroup
  for hierarchy in $hierarchies; do
    directory=sys/fs/cgroup/${hierarchy#name=}
    mkdir "$directory"
    case $hierarchy in
      name=*) mount -t cgroup -o "none,$hierarchy" cgroup "$directory" ;;
      *) mount -t cgroup -o "$hierarchy" cgroup "$directory" ;;
    esac
  done
  mkdir -p etc/kubernetes .old
  echo "127.0.0.1 localhost $name" > etc/hosts
  : > etc/resolv.conf
  cat /proc/sys/kernel/random/uuid | tr -d - > etc/machine-id
  pivot_root . .old
  umount -l /.old
  rmdir /.old
  # A kubelet sets these for the whole machine: it gets files that say they are set already.
  for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    file=/run/sysctl/${setting%=*}
    mkdir -p "${file%/*}"
    echo "${setting#*=}" > "$file"
    mount --bind "$file" "/proc/sys/${setting%=*}"
  done
  mount --make-rshared /
else
  mount -t proc proc /proc
fi

# Orphans end without anyone to wait for them.
trap '' CHLD
echo ready
exec sleep infinity
