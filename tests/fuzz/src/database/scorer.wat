;; A tiny scorer: 64ths of the output's length in bytes, and where TRUTH is 1 of three times the ground truth's as
;; well, without which it does not apply. Says of a run how many rows it has.
(module
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 8192))

  (func (export "cabi_realloc") (param i32 i32 i32) (param $bytes i32) (result i32)
    (global.get $next)
    (global.set $next
      (i32.and (i32.add (i32.add (global.get $next) (local.get $bytes)) (i32.const 7)) (i32.const -8))))

  (func (export "scorebox:scorer/scoring@0.1.0#describe") (result i32) (i32.const 1024))
  (func (export "scorebox:scorer/scoring@0.1.0#configure") (param i32 i32) (result i32)
    (i32.const 2048))

  (func (export "scorebox:scorer/scoring@0.1.0#score") (param $case i32) (result i32)
    (local $bytes i32)
    (local.set $bytes (i32.load offset=4 (local.get $case)))
    (if (i32.const TRUTH)
      (then
        (if (i32.eqz (i32.load8_u offset=20 (local.get $case)))
          (then (return (i32.const 3072))))
        (local.set $bytes
          (i32.add (local.get $bytes) (i32.mul (i32.const 3) (i32.load offset=28 (local.get $case)))))))
    (i32.store8 (i32.const 3080) (i32.const 1))
    (f64.store (i32.const 3088)
      (f64.div (f64.convert_i32_u (i32.and (local.get $bytes) (i32.const 63))) (f64.const 64)))
    (i32.const 3072))

  (func (export "scorebox:scorer/summary@0.1.0#summarize") (param i32) (param $rows i32) (result i32)
    (i32.store8 (i32.const 1424) (i32.add (i32.const 48) (i32.and (local.get $rows) (i32.const 7))))
    (i32.store (i32.const 4100) (i32.const 1424))
    (i32.store (i32.const 4104) (i32.const 1))
    (i32.const 4096))

  ;; `describe`: id and name are NAME, of four letters; no description; version "1"; no schema; the unit scale;
  ;; higher is better; what it reads; soft; no threshold.
  (data (i32.const 1024)
    "\80\05\00\00\04\00\00\00\80\05\00\00\04\00\00\00\80\05\00\00\00\00\00\00\84\05\00\00\01\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00READS\00\01")
  (data (i32.const 1408) "NAME1")
)
