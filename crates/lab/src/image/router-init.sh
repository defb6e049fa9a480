#!/bin/busybox sh
# Init of a router: a guest that forwards packets between its ports. Its networks, and what FRR's daemons are to do, come
# over the control port as lines of a script.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /var /usr/bin /etc/frr
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /usr/bin
export PATH=/usr/sbin:/sbin:/bin:/usr/bin
. /control.sh
ln -sf /run /var/run
mkdir -p /run/frr /var/tmp/frr /dev/pts
mount -t devpts devpts /dev/pts
chown -R frr:frr /run/frr /var/tmp/frr /etc/frr

while read -r module; do
  insmod "/modules/$module" || echo "router: $module does not load"
done < /modules/order
ifconfig lo 127.0.0.1 up
echo 1 > /proc/sys/net/ipv4/ip_forward
# A reply may come over another port than the one that the request left by.
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter
# A route over a port that has lost its link is none.
echo 1 > /proc/sys/net/ipv4/conf/all/ignore_routes_with_linkdown
echo 1 > /proc/sys/net/ipv4/conf/default/ignore_routes_with_linkdown
echo 100000 > /proc/sys/net/mpls/platform_labels
# The core counts as one hop for what passes through it.
echo 0 > /proc/sys/net/mpls/ip_ttl_propagate
echo 1 > /proc/sys/net/mpls/conf/lo/input

console
serve router
