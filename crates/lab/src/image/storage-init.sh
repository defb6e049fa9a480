#!/bin/busybox sh
# Init of the storage guest. Everything that takes time and is the same in every lab is started here,
# before the guest may be frozen; a lab's own set-up comes over the control port as lines of a script.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /var/lib/nfs /usr/bin
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/sbin:/bin:/usr/bin
. /control.sh
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

console
serve storage
