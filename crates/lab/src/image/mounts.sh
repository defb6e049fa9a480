# What a host's set-up is written in. There is no udev: devices are found by what the kernel says of the
# way to them.

# The first output of a command, which is asked for half a minute. The first word says what is waited for.
patiently() {
  what=$1
  shift
  tries=0
  while [ $tries -lt 600 ]; do
    found=$("$@")
    if [ -n "$found" ]; then
      echo "$found"
      return 0
    fi
    tries=$((tries + 1))
    usleep 50000
  done
  echo "$what does not appear" >&2
  return 1
}

# mount_nfs NAME ADDRESS PATH VERSION
mount_nfs() {
  mkdir -p "/lab/$1"
  options=vers=$4,proto=tcp,port=2049,hard
  # Locks would need statd on both sides, and no other client has these files open.
  [ "$4" != 3 ] || options=$options,nolock,mountproto=tcp,mountport=20048
  /sbin/mount.nfs "$2:$3" "/lab/$1" -o "$options"
}

# mount_iscsi NAME ADDRESS TARGET LUN [USER PASSWORD]
mount_iscsi() {
  if [ ! -e /run/iscsid.pid ]; then
    echo "InitiatorName=iqn.2026-01.stormeter.lab:host-$(hostname)" > /etc/iscsi/initiatorname.iscsi
    /sbin/iscsid
  fi
  node="-m node -T $3 -p $2:3260"
  if [ -z "$(iscsi_session "$3" "$2")" ]; then
    /sbin/iscsiadm $node -o new > /dev/null
    if [ -n "$5" ]; then
      /sbin/iscsiadm $node -o update -n node.session.auth.authmethod -v CHAP
      /sbin/iscsiadm $node -o update -n node.session.auth.username -v "$5"
      /sbin/iscsiadm $node -o update -n node.session.auth.password -v "$6"
    fi
    if ! /sbin/iscsiadm $node --login > /tmp/login 2>&1; then
      echo "mount $1: the login to $3 failed: $(grep -o 'initiator reported.*' /tmp/login)"
      return 1
    fi
  fi
  link_block "$1" "$(patiently "LUN $4 of $3" find_iscsi "$3" "$2" "$4")"
}

# iscsi_session TARGET ADDRESS
iscsi_session() {
  for session in /sys/class/iscsi_session/session*; do
    [ "$(cat "$session/targetname" 2>/dev/null)" = "$1" ] || continue
    connection=/sys/class/iscsi_connection/connection${session##*session}:0
    [ "$(cat "$connection/persistent_address" 2>/dev/null)" != "$2" ] || echo "$session"
  done
}

# find_iscsi TARGET ADDRESS LUN
find_iscsi() {
  session=$(iscsi_session "$1" "$2")
  [ -z "$session" ] || block_below "$session/device/target"*/*:*:*:"$3"/block
}

# mount_fc NAME LUN POLICY PORT...
mount_fc() {
  name=$1 lun=$2 policy=$3
  shift 3
  devices= count=0 groups=
  for port; do
    device=$(patiently "LUN $lun at the port $port" find_fc "$port" "$lun")
    count=$((count + 1))
    number=$(cat "/sys/block/$device/dev")
    devices="$devices $number 1"
    groups="$groups round-robin 0 1 1 $number 1"
  done
  sectors=$(cat "/sys/block/$device/size")
  case $policy in
    # A group of paths for each: the first that works is taken.
    fixed)
      table="$count 1 $groups"
      : > "/run/fixed-fc-$name" ;;
    round-robin) table="1 1 round-robin 0 $count 1 $devices" ;;
  esac
  /sbin/dmsetup create "fc-$name" --noudevsync --noudevrules \
    --table "0 $sectors multipath 1 queue_if_no_path 0 $table"
  ln -sf "/dev/mapper/fc-$name" "/dev/lab/$name"
}

# find_fc PORT LUN
find_fc() {
  wanted=0x$(echo "$1" | tr -d :)
  for port in /sys/class/fc_remote_ports/rport-*; do
    [ "$(cat "$port/port_name" 2>/dev/null)" = "$wanted" ] || continue
    # A path that is down is reported within seconds, and its devices stay known.
    echo 5 > "$port/fast_io_fail_tmo"
    echo 86400 > "$port/dev_loss_tmo"
    block_below "$port/device/target"*/*:*:*:"$2"/block
  done 2>/dev/null
}

# watch_paths: what multipathd does. A failed path that answers again is taken again; with fixed paths the
# first one is the one that is preferred.
watch_paths() {
  while sleep 1; do
    for map in /dev/mapper/fc-*; do
      [ -e "$map" ] || continue
      name=${map##*/}
      status=$(/sbin/dmsetup status "$name")
      failed=$(echo "$status" | grep -o '[0-9]*:[0-9]* F')
      for path in $(echo "$failed" | cut -d ' ' -f 1); do
        device=$(readlink "/sys/dev/block/$path")
        # The error handler takes a device offline that did not answer in time, and nothing else brings it back.
        state=/sys/dev/block/$path/device/state
        [ "$(cat "$state")" != offline ] || echo running > "$state"
        [ "$(cat "$state")" = running ] || continue
        dd if="/dev/${device##*/}" of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null || continue
        /sbin/dmsetup message "$name" 0 "reinstate_path $path"
        [ ! -e "/run/fixed-$name" ] || /sbin/dmsetup message "$name" 0 "switch_group 1"
      done
    done
  done
}

# mount_nvme NAME ADDRESS SUBSYSTEM
mount_nvme() {
  # Since Linux 6.5 a host's NQN and its identifier must belong together, and the identifier by default is the NQN's of
  # the module.
  [ -e /tmp/nvme-host ] || cat /proc/sys/kernel/random/uuid > /tmp/nvme-host
  host="hostnqn=nqn.2026-01.stormeter.lab:host-$(hostname),hostid=$(cat /tmp/nvme-host)"
  echo "transport=tcp,traddr=$2,trsvcid=4420,nqn=$3,$host" > /dev/nvme-fabrics
  link_block "$1" "$(patiently "the namespace of $3" find_nvme "$3")"
}

# find_nvme SUBSYSTEM
find_nvme() {
  for block in /sys/block/nvme*n*; do
    # The ways to a namespace (nvme0c0n1) are no devices to use.
    [ "$(cat "$block/hidden")" = 0 ] || continue
    [ "$(cat "$block/device/subsysnqn" 2>/dev/null)" != "$1" ] || echo "${block##*/}"
  done
}

# block_below FOLDER...: the name of the only device in the first of these that is there.
block_below() {
  for folder; do
    [ ! -d "$folder" ] || { ls "$folder" | head -n 1; return; }
  done
}

# link_block NAME DEVICE
link_block() {
  [ -n "$2" ] || return 1
  ln -sf "/dev/$2" "/dev/lab/$1"
}
