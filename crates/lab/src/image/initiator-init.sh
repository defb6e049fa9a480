#!/bin/busybox sh
# Init of a host: a guest whose kernel is the client of storage guests. An agent waits on its own port
# before the guest may be frozen; what is mounted comes over the control port as lines of a script.
/bin/busybox mkdir -p /proc /sys /dev /run/lock/iscsi /tmp /var/lib/nfs /usr/bin /lab /etc/iscsi
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/sbin:/bin:/usr/bin
# There is no udev to wait for.
export DM_DISABLE_UDEV=1
ln -s /proc/mounts /etc/mtab
mkdir -p /dev/lab

while read -r module; do
  insmod "/modules/$module" || echo "host: $module does not load"
done < /modules/order
ifconfig lo 127.0.0.1 up

# A shell for whoever looks at the console.
(while true; do setsid cttyhack sh < /dev/ttyS0 > /dev/ttyS0 2>&1; sleep 1; done) &
(while true; do stormeter agent --port stormeter.agent; sleep 1; done) &
. /mounts.sh
watch_paths &

port=
while [ -z "$port" ]; do
  for name in /sys/class/virtio-ports/*/name; do
    if [ "$(cat "$name" 2>/dev/null)" = stormeter.control ]; then
      port=/dev/$(basename "$(dirname "$name")")
    fi
  done
  [ -n "$port" ] || usleep 20000
done
exec 3<> "$port"
echo "host: up, waits for its set-up on $port"

while true; do
  if ! read -r word line <&3; then
    # The other end of the port is not open.
    usleep 20000
    continue
  fi
  case $word in
    hello)
      read -r uptime rest < /proc/uptime
      echo "hello host 1 uptime $uptime" >&3 ;;
    begin) : > /tmp/setup ;;
    line) printf '%s\n' "$line" >> /tmp/setup ;;
    run)
      if sh -e /tmp/setup > /tmp/setup.log 2>&1 3>&-; then
        echo ready >&3
      else
        cat /tmp/setup.log > /dev/ttyS0
        echo "failed $(tail -n 1 /tmp/setup.log)" >&3
      fi ;;
  esac
done
