;; Has a start function, passive data, and cleans up after a call.
(module
  (import "scorebox:scorer/log@0.1.0" "log" (func $log (param i32 i32 i32)))
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
    (memory.init $passive (i32.const 3088) (i32.const 0) (i32.const 8))
    (data.drop $passive)
    (i32.const 3072))
  (func $start (global.set $next (i32.const 12288)))
  (start $start)
  (func (export "cabi_post_scorebox:scorer/scoring@0.1.0#score") (param i32)
    (i64.store (local.get 0) (i64.const 0)))
  (data $passive "\00\00\00\00\00\00\e0\3f")
  (data (i32.const 1024)
    "H\04\00\00\04\00\00\00L\04\00\00\04\00\00\00P\04\00\00\00\00\00\00P\04\00\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00tinyTiny1")
  (data (i32.const 3072)
    "\00\00\00\00\00\00\00\00\01\00\00\00\00\00\00\00\00\00\00\00\00\00\e0?\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
)
