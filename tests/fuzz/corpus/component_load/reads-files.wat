;; Gives every case 0.5 whose folder has two files.
(module
  (import "scorebox:scorer/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (import "scorebox:scorer/workspace@0.1.0" "paths" (func $paths (param i32)))
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 8192))
  (func $realloc (export "cabi_realloc") (param i32 i32 i32) (param $bytes i32) (result i32)
    (global.get $next)
    (global.set $next
      (i32.and (i32.add (i32.add (global.get $next) (local.get $bytes)) (i32.const 7)) (i32.const -8))))
  (func $describe (export "scorebox:scorer/scoring@0.1.0#describe") (result i32)
    (i32.const 1024))
  (func $configure (export "scorebox:scorer/scoring@0.1.0#configure") (param i32 i32) (result i32)
    (i32.const 2048))
  (func $score (export "scorebox:scorer/scoring@0.1.0#score") (param $case i32) (result i32)
    (call $paths (i32.const 4096))
    (if (i32.load8_u (i32.const 4096)) (then unreachable))
    (if (i32.ne (i32.load (i32.const 4104)) (i32.const 2)) (then unreachable))
    (i32.const 3072))
  (data (i32.const 1024)
    "H\04\00\00\04\00\00\00L\04\00\00\04\00\00\00P\04\00\00\00\00\00\00P\04\00\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00tinyTiny1")
  (data (i32.const 3072)
    "\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\e0?\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
)
