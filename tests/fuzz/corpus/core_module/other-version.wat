(module
    (memory (export "memory") 1)
    (data (i32.const 16) "half")
    (data (i32.const 64) "\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00\10\00\00\00\04\00\00\00")
    (data (i32.const 264) "\01\00\00\00\00\00\00\00\00\00\00\00\00\00\e0\3f")
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    (func (export "describe") (result i32) (i32.const 64))
    (func (export "configure") (param i32 i32) (result i32) (i32.const 512))
    (func (export "scorebox:scorer/scoring@0.9.0#score") (param i32) (result i32) (i32.const 256)))
