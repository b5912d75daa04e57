(component (instance $i) (export "scorebox:scorer/scoring@0.9.0" (instance $i)))
