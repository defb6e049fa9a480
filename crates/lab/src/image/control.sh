# What the inits of guests with a shell share: a shell on the console, and the control port, over which lines of a script
# come. `serve KIND` never returns.

# A shell on the console, for people.
console() {
  (while true; do setsid cttyhack sh < /dev/ttyS0 > /dev/ttyS0 2>&1; sleep 1; done) &
}

# Waits for the control port and opens it as descriptor 3.
find_port() {
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
  echo "$1: up, waits for its set-up on $port"
}

serve() {
  find_port "$1"
  silent=0
  while true; do
    if ! read -r word line <&3; then
      # The other end of the port is not open. A guest of which nothing has been wanted for two seconds looks less often:
      # each look starts a process, which an emulated processor feels.
      if [ $silent -lt 100 ]; then
        silent=$((silent + 1))
        usleep 20000
      else
        usleep 150000
      fi
      continue
    fi
    silent=0
    case $word in
      hello)
        read -r uptime rest < /proc/uptime
        echo "hello $1 1 uptime $uptime" >&3 ;;
      # Only root may read it: it may have passwords.
      begin) rm -f /tmp/setup; (umask 077; : > /tmp/setup) ;;
      line) printf '%s\n' "$line" >> /tmp/setup ;;
      run | ask)
        if sh -e /tmp/setup > /tmp/setup.log 2>&1 3>&-; then
          [ $word = run ] || awk '{ print "said " $0 }' /tmp/setup.log >&3
          echo ready >&3
        else
          cat /tmp/setup.log > /dev/ttyS0
          echo "failed $(tail -n 1 /tmp/setup.log)" >&3
        fi ;;
    esac
  done
}
