;; WASI preview 1 for a sandbox that has no system: every function of it, without files, arguments, environment or
;; sockets. Clocks count their readings, random bytes are always the same ones, and what is printed goes to the log. `merge`
;; puts these functions into a core module in place of its imports; `preview1.wasm` is this text, assembled. Those whose names begin with
;; `env.` are what AssemblyScript imports in place of WASI.
;;
;; Error numbers: 8 is `badf` (no such descriptor), 52 is `nosys` (no such function), 28 is `inval`.
(module
  (import "main" "memory" (memory 0))
  (import "log" "letter" (func $letter (param i32)))
  (import "log" "end" (func $end (param i32)))

  ;; What the clocks show, in nanoseconds since 1970.
  (global $now (mut i64) (i64.const 0))
  ;; The state of the random numbers.
  (global $seed (mut i64) (i64.const 0x5c0e))
  ;; Not 0 while nothing may be logged: a guest must not call its host while it allocates.
  (global $quiet (export "quiet") (mut i32) (i32.const 0))
  ;; The level of the message that has begun, and one more: 0 if none has.
  (global $open (mut i32) (i32.const 0))
  ;; Of a character that has begun: bytes to come, what is known of it, and the bounds of its next byte.
  (global $need (mut i32) (i32.const 0))
  (global $code (mut i32) (i32.const 0))
  (global $least (mut i32) (i32.const 0))
  (global $most (mut i32) (i32.const 0))

  (func $close_message
    (if (global.get $need)
      (then
        (global.set $need (i32.const 0))
        (call $letter (i32.const 0xfffd))))
    (if (global.get $open)
      (then
        (call $end (i32.sub (global.get $open) (i32.const 1)))
        (global.set $open (i32.const 0)))))

  ;; A line is a message.
  (func $print_character (param $character i32) (param $level i32)
    (if (i32.eq (local.get $character) (i32.const 10))
      (then (call $close_message))
      (else
        (global.set $open (i32.add (local.get $level) (i32.const 1)))
        (call $letter (local.get $character)))))

  (func $begin_character (param $need i32) (param $code i32) (param $least i32) (param $most i32)
    (global.set $need (local.get $need))
    (global.set $code (local.get $code))
    (global.set $least (local.get $least))
    (global.set $most (local.get $most)))

  ;; UTF-8; what is not stands as U+FFFD. (The Unicode Standard, table 3-7.)
  (func $print_byte (param $byte i32) (param $level i32)
    (if (global.get $need)
      (then
        (if (i32.and
              (i32.ge_u (local.get $byte) (global.get $least))
              (i32.le_u (local.get $byte) (global.get $most)))
          (then
            (call $begin_character
              (i32.sub (global.get $need) (i32.const 1))
              (i32.or
                (i32.shl (global.get $code) (i32.const 6))
                (i32.and (local.get $byte) (i32.const 0x3f)))
              (i32.const 0x80)
              (i32.const 0xbf))
            (if (i32.eqz (global.get $need))
              (then (call $print_character (global.get $code) (local.get $level))))
            (return)))
        (global.set $need (i32.const 0))
        (call $print_character (i32.const 0xfffd) (local.get $level))))
    (if (i32.lt_u (local.get $byte) (i32.const 0x80))
      (then (call $print_character (local.get $byte) (local.get $level)) (return)))
    (if (i32.lt_u (i32.sub (local.get $byte) (i32.const 0xc2)) (i32.const 0x1e))
      (then
        (call $begin_character
          (i32.const 1)
          (i32.and (local.get $byte) (i32.const 0x1f))
          (i32.const 0x80)
          (i32.const 0xbf))
        (return)))
    (if (i32.eq (i32.and (local.get $byte) (i32.const 0xf0)) (i32.const 0xe0))
      (then
        (call $begin_character
          (i32.const 2)
          (i32.and (local.get $byte) (i32.const 0x0f))
          (select (i32.const 0xa0) (i32.const 0x80) (i32.eq (local.get $byte) (i32.const 0xe0)))
          (select (i32.const 0x9f) (i32.const 0xbf) (i32.eq (local.get $byte) (i32.const 0xed))))
        (return)))
    (if (i32.lt_u (i32.sub (local.get $byte) (i32.const 0xf0)) (i32.const 5))
      (then
        (call $begin_character
          (i32.const 3)
          (i32.and (local.get $byte) (i32.const 0x07))
          (select (i32.const 0x90) (i32.const 0x80) (i32.eq (local.get $byte) (i32.const 0xf0)))
          (select (i32.const 0x8f) (i32.const 0xbf) (i32.eq (local.get $byte) (i32.const 0xf4))))
        (return)))
    (call $print_character (i32.const 0xfffd) (local.get $level)))

  ;; Standard output is `info`, standard error is `error`.
  (func $print (param $descriptor i32) (param $at i32) (param $length i32) (local $level i32)
    (if (global.get $quiet) (then (return)))
    (local.set $level (select (i32.const 1) (i32.const 3) (i32.eq (local.get $descriptor) (i32.const 1))))
    ;; A line of one of them ends where the other one begins.
    (if (i32.ne (global.get $open) (i32.add (local.get $level) (i32.const 1)))
      (then (call $close_message)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $length)))
        (call $print_byte (i32.load8_u (local.get $at)) (local.get $level))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br $next))))

  ;; A text of AssemblyScript: UTF-16, with its number of bytes before it. Half a surrogate pair stands as U+FFFD.
  (func $print_text (param $at i32) (param $level i32) (local $end i32) (local $code i32) (local $low i32)
    (if (global.get $quiet) (then (return)))
    (call $close_message)
    (local.set $end (i32.add (local.get $at) (i32.load (i32.sub (local.get $at) (i32.const 4)))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $code (i32.load16_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 2)))
        (if (i32.eq (i32.and (local.get $code) (i32.const 0xf800)) (i32.const 0xd800))
          (then
            (local.set $low (i32.const 0))
            (if (i32.lt_u (local.get $at) (local.get $end))
              (then (local.set $low (i32.load16_u (local.get $at)))))
            (if (i32.and
                  (i32.lt_u (local.get $code) (i32.const 0xdc00))
                  (i32.eq (i32.and (local.get $low) (i32.const 0xfc00)) (i32.const 0xdc00)))
              (then
                (local.set $code
                  (i32.add
                    (i32.const 0x10000)
                    (i32.or
                      (i32.shl (i32.and (local.get $code) (i32.const 0x3ff)) (i32.const 10))
                      (i32.and (local.get $low) (i32.const 0x3ff)))))
                (local.set $at (i32.add (local.get $at) (i32.const 2))))
              (else (local.set $code (i32.const 0xfffd))))))
        (call $print_character (local.get $code) (local.get $level))
        (br $next)))
    (call $close_message))

  (func (export "env.console.debug") (param i32) (call $print_text (local.get 0) (i32.const 0)))
  (func (export "env.console.log") (param i32) (call $print_text (local.get 0) (i32.const 1)))
  (func (export "env.console.info") (param i32) (call $print_text (local.get 0) (i32.const 1)))
  (func (export "env.console.warn") (param i32) (call $print_text (local.get 0) (i32.const 2)))
  (func (export "env.console.error") (param i32) (call $print_text (local.get 0) (i32.const 3)))

  ;; What `Math.random` starts from.
  (func (export "env.seed") (result f64) (f64.const 0x1.5c0ep0))

  ;; Milliseconds.
  (func (export "env.Date.now") (result f64)
    (global.set $now (i64.add (global.get $now) (i64.const 1000)))
    (f64.floor (f64.div (f64.convert_i64_u (global.get $now)) (f64.const 1000000))))

  (func $is_printed (param $descriptor i32) (result i32)
    (i32.lt_u (i32.sub (local.get $descriptor) (i32.const 1)) (i32.const 2)))

  (func (export "fd_write") (param $descriptor i32) (param $pieces i32) (param $count i32) (param $written i32) (result i32)
    (local $all i32)
    (if (i32.eqz (call $is_printed (local.get $descriptor))) (then (return (i32.const 8))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (call $print
          (local.get $descriptor)
          (i32.load (local.get $pieces))
          (i32.load offset=4 (local.get $pieces)))
        (local.set $all (i32.add (local.get $all) (i32.load offset=4 (local.get $pieces))))
        (local.set $pieces (i32.add (local.get $pieces) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))
    (i32.store (local.get $written) (local.get $all))
    (i32.const 0))

  ;; The three standard ones are a terminal, so that C's library passes on each line: nothing flushes it at an end.
  (func (export "fd_fdstat_get") (param $descriptor i32) (param $to i32) (result i32)
    (if (i32.gt_u (local.get $descriptor) (i32.const 2)) (then (return (i32.const 8))))
    (i64.store (local.get $to) (i64.const 2))
    (i64.store offset=8 (local.get $to)
      (select (i64.const 64) (i64.const 2) (call $is_printed (local.get $descriptor))))
    (i64.store offset=16 (local.get $to) (i64.const 0))
    (i32.const 0))

  ;; Standard input is at its end.
  (func (export "fd_read") (param $descriptor i32) (param i32) (param i32) (param $read i32) (result i32)
    (if (local.get $descriptor) (then (return (i32.const 8))))
    (i32.store (local.get $read) (i32.const 0))
    (i32.const 0))

  (func $none (param $count i32) (param $bytes i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $bytes) (i32.const 0))
    (i32.const 0))
  (func (export "args_get") (param i32) (param i32) (result i32) (i32.const 0))
  (func (export "args_sizes_get") (param i32) (param i32) (result i32) (call $none (local.get 0) (local.get 1)))
  (func (export "environ_get") (param i32) (param i32) (result i32) (i32.const 0))
  (func (export "environ_sizes_get") (param i32) (param i32) (result i32) (call $none (local.get 0) (local.get 1)))

  ;; A microsecond from one reading to the next, so that what waits for a time gets there.
  (func (export "clock_res_get") (param $clock i32) (param $to i32) (result i32)
    (if (i32.gt_u (local.get $clock) (i32.const 3)) (then (return (i32.const 28))))
    (i64.store (local.get $to) (i64.const 1000))
    (i32.const 0))
  (func (export "clock_time_get") (param $clock i32) (param i64) (param $to i32) (result i32)
    (if (i32.gt_u (local.get $clock) (i32.const 3)) (then (return (i32.const 28))))
    (global.set $now (i64.add (global.get $now) (i64.const 1000)))
    (i64.store (local.get $to) (global.get $now))
    (i32.const 0))

  ;; Every event that is waited for is there at once: the clocks move on to the time, and descriptors fail.
  (func (export "poll_oneoff") (param $from i32) (param $to i32) (param $count i32) (param $events i32) (result i32)
    (local $left i32) (local $time i64)
    (if (i32.eqz (local.get $count)) (then (return (i32.const 28))))
    (local.set $left (local.get $count))
    (loop $next
      (i64.store (local.get $to) (i64.load (local.get $from)))
      (i64.store offset=8 (local.get $to) (i64.const 0))
      (i64.store offset=16 (local.get $to) (i64.const 0))
      (i64.store offset=24 (local.get $to) (i64.const 0))
      (i32.store8 offset=10 (local.get $to) (i32.load8_u offset=8 (local.get $from)))
      (if (i32.load8_u offset=8 (local.get $from))
        (then (i32.store16 offset=8 (local.get $to) (i32.const 8)))
        (else
          (local.set $time (i64.load offset=24 (local.get $from)))
          (if (i32.eqz (i32.and (i32.load16_u offset=40 (local.get $from)) (i32.const 1)))
            (then (local.set $time (i64.add (global.get $now) (local.get $time)))))
          (if (i64.gt_u (local.get $time) (global.get $now))
            (then (global.set $now (local.get $time))))))
      (local.set $from (i32.add (local.get $from) (i32.const 48)))
      (local.set $to (i32.add (local.get $to) (i32.const 32)))
      (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (i32.store (local.get $events) (local.get $count))
    (i32.const 0))

  ;; SplitMix64, eight bytes of which one is taken: few are ever asked for.
  (func (export "random_get") (param $to i32) (param $length i32) (result i32)
    (local $mixed i64)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $length)))
        (global.set $seed (i64.add (global.get $seed) (i64.const 0x9e3779b97f4a7c15)))
        (local.set $mixed (global.get $seed))
        (local.set $mixed
          (i64.mul
            (i64.xor (local.get $mixed) (i64.shr_u (local.get $mixed) (i64.const 30)))
            (i64.const 0xbf58476d1ce4e5b9)))
        (local.set $mixed
          (i64.mul
            (i64.xor (local.get $mixed) (i64.shr_u (local.get $mixed) (i64.const 27)))
            (i64.const 0x94d049bb133111eb)))
        (i64.store8 (local.get $to) (i64.shr_u (local.get $mixed) (i64.const 56)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  ;; A program that ends gives no score: the trap has its last line beside it.
  (func (export "proc_exit") (param $code i32)
    (if (i32.eqz (global.get $quiet)) (then (call $close_message)))
    (unreachable))
  (func (export "proc_raise") (param i32) (result i32) (i32.const 52))
  (func (export "sched_yield") (result i32) (i32.const 0))

  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_close") (param i32) (result i32) (i32.const 8))
  (func (export "fd_datasync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_fdstat_set_rights") (param i32 i64 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 8))
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func (export "fd_renumber") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_sync") (param i32) (result i32) (i32.const 8))
  (func (export "fd_tell") (param i32 i32) (result i32) (i32.const 8))
  (func (export "path_create_directory") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_filestat_get") (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "path_readlink") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_remove_directory") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_rename") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_symlink") (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_unlink_file") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_accept") (param i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_recv") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_send") (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "sock_shutdown") (param i32 i32) (result i32) (i32.const 8)))
