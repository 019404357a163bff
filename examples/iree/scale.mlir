// scale.mlir - what the example runs: a * b + b on 64 numbers.  SPDX-License-Identifier: MIT
module @module {
  func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
    %0 = arith.mulf %a, %b : tensor<64xf32>
    %1 = arith.addf %0, %b : tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}
