// Written by scripts/networks/writeNetworks.ts; do not edit.

const pair0 = {
  messenger: "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d",
  transmitter: "0x81d40f21f12a8f0e3252bccb954d722d4c464b64",
} as const;
const pair1 = {
  messenger: "0x98706a006bc632df31cadfcbd43f38887ce2ca5c",
  transmitter: "0x5b61381fc9e58e70efc13a4a97516997019198ee",
} as const;
const pair2 = {
  messenger: "0x8fe6b999dc680ccfdd5bf7eb0974218be2542daa",
  transmitter: "0xe737e5cebeeba77efe34d4aa090756590b1ce275",
} as const;

export const publishedChains = [
  { chainId: 1n, domain: 0, usdc: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", ...pair0 },
  { chainId: 43114n, domain: 1, usdc: "0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e", ...pair0 },
  { chainId: 10n, domain: 2, usdc: "0x0b2c639c533813f4aa9d7837caf62653d097ff85", ...pair0 },
  { chainId: 42161n, domain: 3, usdc: "0xaf88d065e77c8cc2239327c5edb3a432268e5831", ...pair0 },
  { chainId: 8453n, domain: 6, usdc: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", ...pair0 },
  { chainId: 137n, domain: 7, usdc: "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", ...pair0 },
  { chainId: 130n, domain: 10, usdc: "0x078d782b760474a361dda0af3839290b0ef57ad6", ...pair0 },
  { chainId: 59144n, domain: 11, usdc: "0x176211869ca2b568f2a7d4ee941e073a821ee1ff", ...pair0 },
  { chainId: 81224n, domain: 12, usdc: "0xd996633a415985dbd7d6d12f4a4343e31f5037cf", ...pair0 },
  { chainId: 146n, domain: 13, usdc: "0x29219dd400f2bf60e5a23d13be72b486d4038894", ...pair0 },
  { chainId: 480n, domain: 14, usdc: "0x79a02482a880bce3f13e09da970dc34db4cd24d1", ...pair0 },
  { chainId: 143n, domain: 15, usdc: "0x754704bc059f8c67012fed69bc8a327a5aafb603", ...pair0 },
  { chainId: 1329n, domain: 16, usdc: "0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392", ...pair0 },
  { chainId: 50n, domain: 18, usdc: "0xfa2958cb79b0491cc627c1557f441ef849ca8eb1", ...pair0 },
  { chainId: 999n, domain: 19, usdc: "0xb88339cb7199b77e23db6e890353e22632ba630f", ...pair0 },
  { chainId: 57073n, domain: 21, usdc: "0x2d270e6886d130d724215a266106e6832161eaed", ...pair0 },
  { chainId: 98866n, domain: 22, usdc: "0x222365ef19f7947e5484218551b56bb3965aa7af", ...pair0 },
  { chainId: 3343n, domain: 28, usdc: "0x98d2919b9a214e6fa5384ac81e6864ba686ad74c", ...pair1 },
  { chainId: 1776n, domain: 29, usdc: "0xa00c59ff5a080d2b954d0c75e46e22a0c371235a", ...pair0 },
  { chainId: 2818n, domain: 30, usdc: "0xcfb1186f4e93d60e60a8bdd997427d1f33bc372b", ...pair0 },
  { chainId: 1672n, domain: 31, usdc: "0xc879c018db60520f4355c26ed1a6d572cdac1815", ...pair0 },
  { chainId: 25n, domain: 32, usdc: "0x3d7f2c478aafdb65542bcb44bceec05849999d2d", ...pair0 },
  { chainId: 9745n, domain: 33, usdc: "0x2d661c89d812261039af9764eceaaee884f5f67f", ...pair0 },
  { chainId: 196n, domain: 37, usdc: "0xb6ceceab302e2e4948951ee7843fc24e92933061", ...pair0 },
  { chainId: 11155111n, domain: 0, usdc: "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238", ...pair2 },
  { chainId: 43113n, domain: 1, usdc: "0x5425890298aed601595a70ab815c96711a31bc65", ...pair2 },
  { chainId: 11155420n, domain: 2, usdc: "0x5fd84259d66cd46123540766be93dfe6d43130d7", ...pair2 },
  { chainId: 421614n, domain: 3, usdc: "0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d", ...pair2 },
  { chainId: 84532n, domain: 6, usdc: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", ...pair2 },
  { chainId: 80002n, domain: 7, usdc: "0x41e94eb019c0762f9bfcf9fb1e58725bfb0e7582", ...pair2 },
  { chainId: 1301n, domain: 10, usdc: "0x31d0220469e10c4e71834a79b1f276d740d3768f", ...pair2 },
  { chainId: 59141n, domain: 11, usdc: "0xfece4462d57bd51a6a552365a011b95f0e16d9b7", ...pair2 },
  { chainId: 812242n, domain: 12, usdc: "0x6d7f141b6819c2c9cc2f818e6ad549e7ca090f8f", ...pair2 },
  { chainId: 14601n, domain: 13, usdc: "0x0ba304580ee7c9a980cf72e55f5ed2e9fd30bc51", ...pair2 },
  { chainId: 4801n, domain: 14, usdc: "0x66145f38cbac35ca6f1dfb4914df98f1614aea88", ...pair2 },
  { chainId: 10143n, domain: 15, usdc: "0x534b2f3a21130d7a60830c2df862319e593943a3", ...pair2 },
  { chainId: 1328n, domain: 16, usdc: "0x4fcf1784b31630811181f670aea7a7bef803eaed", ...pair2 },
  { chainId: 51n, domain: 18, usdc: "0xb5ab69f7bbada22b28e79c8ffaece55ef1c771d4", ...pair2 },
  { chainId: 998n, domain: 19, usdc: "0x2b3370ee501b4a559b57d449569354196457d8ab", ...pair2 },
  { chainId: 763373n, domain: 21, usdc: "0xfabab97dce620294d2b0b0e46c68964e326300ac", ...pair2 },
  { chainId: 98867n, domain: 22, usdc: "0xcb5f30e335672893c7eb944b374c196392c19d18", ...pair2 },
  { chainId: 33431n, domain: 28, usdc: "0x2d9f7cad728051aa35ecdc472a14cf8cdf5cfd6b", ...pair2 },
  { chainId: 1439n, domain: 29, usdc: "0x0c382e685bbeefe5d3d9c29e29e341fee8e84c5d", ...pair2 },
  { chainId: 2910n, domain: 30, usdc: "0x7433b41c6c5e1d58d4da99483609520255ab661b", ...pair2 },
  { chainId: 688689n, domain: 31, usdc: "0xcfc8330f4bcab529c625d12781b1c19466a9fc8b", ...pair2 },
  { chainId: 338n, domain: 32, usdc: "0xeb33dc5fac03833e132593659e1de7256ab59794", ...pair2 },
  { chainId: 9746n, domain: 33, usdc: "0xe67fb267022cba8064dd388cc2fed724f3120d9d", ...pair2 },
  { chainId: 1952n, domain: 37, usdc: "0xdec90b78111ba2fc6fc6d84d8b9ec159a2d4b9b3", ...pair2 },
] as const;

/** By the CAIP-2 reference of the cluster. */
export const solanaUsdc: Readonly<Record<string, string>> = {
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
};
