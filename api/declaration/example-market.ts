/** The market that examples of the document use: a pool of WETH and USDC on Base. The pool does not exist. */
export const EXAMPLE = {
  chainId: 8453,
  pool: '0x7a3f0f2a6b3c5d8e9f10a1b2c3d4e5f607182930',
  factory: '0xfacfacfacfacfacfacfacfacfacfacfacfacfac0',
  weth: '0x4200000000000000000000000000000000000006',
  usdc: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
} as const;
