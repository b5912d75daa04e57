;; Imports clocks and randomness, and is no scorer else.
(component
  (import "wasi:clocks/wall-clock@0.2.0" (instance
    (type (record (field "seconds" u64) (field "nanoseconds" u32)))
    (export "datetime" (type (eq 0)))
    (export "now" (func (result 1)))))
  (import "wasi:random/random@0.2.0" (instance
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (instance $scoring)
  (export "scorebox:scorer/scoring@0.1.0" (instance $scoring)))
