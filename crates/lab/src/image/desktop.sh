# What the VNC server shows, in a terminal of 107 by 37 cells of 6 by 13 pixels: an area that changes by itself, as the seed
# says, and 32 fields, one of which changes at each key.
seed=$1
stty raw -echo
printf '\033[?25l\033[2J'

# block COLUMN ROW WIDTH HEIGHT COLOUR LETTER: in one write, because two processes draw.
block() {
  line= text=
  while [ ${#line} -lt "$3" ]; do line=$line$6; done
  row=$2
  while [ $row -lt $(($2 + $4)) ]; do
    row=$((row + 1))
    text="$text\033[$row;$(($1 + 1))H$line"
  done
  printf "\033[3$((7 - $5));4$5m$text"
}

# Five times a second, a block of 8 by 2 cells in the area of 40 by 8 at the upper left.
change() {
  # A pause without starting a process: nothing is ever written there.
  mkfifo /tmp/never 2> /dev/null
  exec 4<> /tmp/never
  while true; do
    # As in the C standard's example of rand().
    seed=$(((seed * 1103515245 + 12345) & 2147483647))
    at=$((seed >> 16))
    block $((at % 5 * 8)) $((at / 5 % 4 * 2)) 8 2 $((at / 20 % 7 + 1)) '#'
    read -r -t 0.2 nothing <&4
  done
}
change &

: > /run/vnc/drawn
# A key's field is that of its code, so that several viewers can tell their keys apart; its colour always changes.
while IFS= read -r -n 1 key; do
  code=$(printf %d "'$key")
  field=$((code % 32))
  eval "count=\$((count_$field + 1)); count_$field=\$count"
  case $key in
    [a-zA-Z0-9]) ;;
    *) key=+ ;;
  esac
  block $((field % 8 * 13)) $((12 + field / 8 * 5)) 13 5 $((count % 7 + 1)) "$key"
done
