;; Components in components, and modules that are linked to each other.
(component
  (component $outer
    (component $inner
      (core module $m (func (export "f") (result i32) (i32.const 1)))
      (core instance $i (instantiate $m))
      (func (export "f") (result u32) (canon lift (core func $i "f"))))
    (instance $one (instantiate $inner))
    (export "one" (instance $one)))
  (instance $o (instantiate $outer))
  (core module $n (import "m" "g" (func (result i32))) (func (export "h") (result i32) (call 0)))
  (alias export $o "one" (instance $one))
  (alias export $one "f" (func $f))
  (core func $g (canon lower (func $f)))
  (core instance $m (export "g" (func $g)))
  (core instance (instantiate $n (with "m" (instance $m))))
  (type $enum (enum "a" "b"))
  (type $variant (variant (case "x" $enum) (case "y" (list (tuple string char)))))
  (instance $scoring (export "t" (type $variant)))
  (export "scorebox:scorer/scoring@0.1.0" (instance $scoring)))
