#!/bin/busybox sh
# Init of the storage guest. Everything that takes time and is the same in every lab is started here,
# before the guest may be frozen; a lab's own set-up comes over the control port as lines of a script.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /var/lib/nfs /usr/bin
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/sbin:/bin:/usr/bin
# There is no udev to wait for.
export DM_DISABLE_UDEV=1
ln -s /proc/mounts /etc/mtab

while read -r module; do
  insmod "/modules/$module" || echo "storage guest: $module does not load"
done < /modules/order

mount -t configfs configfs /sys/kernel/config
mount -t nfsd nfsd /proc/fs/nfsd
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
rpcbind
# No client has anything to reclaim: the first open must not wait for a minute and a half.
echo 10 > /proc/fs/nfsd/nfsv4gracetime
echo 10 > /proc/fs/nfsd/nfsv4leasetime
mkdir -p /var/lib/nfs/v4recovery
touch /var/lib/nfs/etab /var/lib/nfs/rmtab
rpc.nfsd --tcp 8
echo Y > /proc/fs/nfsd/v4_end_grace
rpc.mountd --port 20048

# A shell for whoever looks at the console.
(while true; do setsid cttyhack sh < /dev/ttyS0 > /dev/ttyS0 2>&1; sleep 1; done) &

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
echo "storage guest: up, waits for its set-up on $port"

while true; do
  if ! read -r word line <&3; then
    # The other end of the port is not open.
    usleep 20000
    continue
  fi
  case $word in
    hello)
      read -r uptime rest < /proc/uptime
      echo "hello storage 1 uptime $uptime" >&3 ;;
    begin) : > /tmp/setup ;;
    line) printf '%s\n' "$line" >> /tmp/setup ;;
    run)
      if sh -e /tmp/setup > /tmp/setup.log 2>&1; then
        echo ready >&3
      else
        cat /tmp/setup.log > /dev/ttyS0
        echo "failed $(tail -n 1 /tmp/setup.log)" >&3
      fi ;;
  esac
done
