# What a host's services are started with. Each returns when it can be used, or fails; the last line of output says why.

# listening PORT
listening() {
  grep -q "^ *[0-9]*: 0*:$(printf %04X "$1") 0*:0000 0A " /proc/net/tcp
}

# seconds: since the guest has started.
seconds() {
  cut -d . -f 1 /proc/uptime
}

# await NAME PORT PROCESS LOG
await() {
  end=$(($(seconds) + 30))
  until listening "$2"; do
    kill -0 "$3" 2> /dev/null || { echo "$1 has ended: $(reason "$4")"; return 1; }
    [ "$(seconds)" -lt $end ] || { echo "$1 does not listen on port $2: $(reason "$4")"; return 1; }
    usleep 100000
  done
}

# reason LOG: its last line with something in it.
reason() {
  tr -d '\r' < "$1" | grep . | tail -n 1
}

# serve_ftp PASSWORD MEBIBYTES
serve_ftp() {
  mkdir -p /srv/ftp /run/vsftpd/empty
  mount -t tmpfs -o "size=$2m,mode=755,uid=1000,gid=1000" ftp /srv/ftp
  {
    echo stormeter:x:1000:1000::/srv/ftp:/bin/false
    echo nobody:x:65534:65534::/:/bin/false
  } >> /etc/passwd
  echo stormeter:x:1000: >> /etc/group
  (umask 077; echo "stormeter:$(printf '%s\n' "$1" | mkpasswd -m sha256):19000::::::" > /etc/shadow)
  # It reports errors on its standard input.
  : > /tmp/ftp.log
  /usr/sbin/vsftpd /etc/vsftpd.conf <> /tmp/ftp.log >&0 2>&0 &
  await ftp 21 $! /tmp/ftp.log
}

# serve_vnc PASSWORD SEED
serve_vnc() {
  mkdir -p /run/vnc /tmp/.X11-unix /dev/pts
  mount -t devpts devpts /dev/pts
  (umask 077; printf '%s\n' "$1" | /usr/bin/tigervncpasswd -f > /run/vnc/password)
  # Neither wrong passwords of others nor silence shut a viewer out. Programs of this guest need no permission (-ac).
  /usr/bin/Xtigervnc :0 -rfbport 5900 -interface 0.0.0.0 -geometry 640x480 -depth 16 -desktop stormeter -fp built-ins \
    -SecurityTypes VncAuth -PasswordFile /run/vnc/password -AlwaysShared -BlacklistThreshold 1000000000 \
    -IdleTimeout 0 -MaxIdleTime 0 -MaxConnectionTime 0 -MaxDisconnectionTime 0 -AcceptSetDesktopSize=0 \
    -ac -noreset -nolisten tcp -extension GLX -Log '*:stderr:10' > /tmp/vnc.log 2>&1 &
  await vnc 5900 $! /tmp/vnc.log
  show_desktop "$2" >> /tmp/vnc.log 2>&1 &
  end=$(($(seconds) + 30))
  until [ -e /run/vnc/drawn ]; do
    [ "$(seconds)" -lt $end ] || { echo "vnc has no desktop: $(reason /tmp/vnc.log)"; return 1; }
    usleep 100000
  done
}

# show_desktop SEED: a terminal that covers the screen, so that keys reach it wherever the pointer is.
show_desktop() {
  while true; do
    DISPLAY=:0 /usr/bin/xterm -fn fixed -geometry 107x37+0+0 -b 0 -bw 0 +sb -bg black -fg white -e sh /desktop.sh "$1"
    sleep 1
  done
}
