#!/bin/busybox sh
# Init of a host: a guest whose kernel is the client of storage guests. An agent waits on its own port
# before the guest may be frozen; what is mounted comes over the control port as lines of a script.
/bin/busybox mkdir -p /proc /sys /dev /run/lock/iscsi /tmp /var/lib/nfs /usr/bin /lab /etc/iscsi
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/sbin:/bin:/usr/bin
. /control.sh
# There is no udev to wait for.
export DM_DISABLE_UDEV=1
ln -s /proc/mounts /etc/mtab
mkdir -p /dev/lab

while read -r module; do
  insmod "/modules/$module" || echo "host: $module does not load"
done < /modules/order
ifconfig lo 127.0.0.1 up

console
(while true; do stormeter agent --port stormeter.agent; sleep 1; done) &
. /mounts.sh
watch_paths &

serve host
