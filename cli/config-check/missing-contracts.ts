import { type Classification, classifyPool, type TierFacts } from '../../protocol/classification.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';

const TOKEN0 = { address: '0x01', feedIds: ['0xf0'], usdPegged: false, multiplierOracle: null } as const;
const TOKEN1 = { address: '0x02', feedIds: ['0xf1'], usdPegged: true, multiplierOracle: null } as const;

/** A pool without any fault, so that each reason comes from what is taken from it. */
const FAULTLESS: TierFacts = {
  widestBinE6: 0,
  stopLoss: {
    phases: ['afterSwap'],
    initialized: true,
    drawdownE6: 1n,
    decayPerSecondE18: 0n,
    timelockSecs: 2n ** 32n,
  },
  provider: {
    kind: 'anchored',
    oracle: '0x03',
    base: TOKEN0.address,
    quote: TOKEN1.address,
    baseFeedId: '0xf0',
    quoteFeedId: '0xf1',
    usesMultiplierOracle: false,
    mutableParams: false,
    maxRefStalenessSecs: 0n,
  },
  priceProviderTimelock: MAX_UINT256,
  admin: '0x04',
  creator: '0x04',
  adminVerified: true,
  extensions: [],
  token0: TOKEN0,
  token1: TOKEN1,
};

/** The classification of a faultless pool whose stop loss the chains file does not name. */
export const withoutStopLoss = (): Classification => classifyPool({ ...FAULTLESS, stopLoss: null });

/** The classification of a faultless pool whose provider's factory the chains file does not name. */
export const withoutProvider = (): Classification => classifyPool({ ...FAULTLESS, provider: { kind: 'unknown' } });
