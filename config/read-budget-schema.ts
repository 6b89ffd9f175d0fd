import { z } from 'zod';

const seconds = z.int().positive();

/** What can be saved up of a share must pay for a pool that takes all the gas it may. */
const LEAST_SAVED = { calls: 1, gas: 15_000_000 };
/** Of an allowance per minute, the part that can be saved up. */
export const SAVED_PART = 0.25;

/** What the scheduled reads of one chain may cost its nodes, and how they are shared out. The defaults fit a free node. */
export const ReadBudgetConfig = z
  .strictObject({
    callsPerMinute: z.int().positive().default(240),
    gasPerMinute: z.int().positive().default(4_000_000_000),
    /** Calls on their way at a time for each class of pools, so that a node is not asked for a thousand pools at once. */
    callsAtOnce: z.int().positive().default(2),
    /** Part of both for all pools together that clients asked for, and for all that nobody did. */
    wantedPct: z.int().min(1).max(40).default(10),
    othersPct: z.int().min(1).max(40).default(10),
    /** Pools of the chain that count as asked for, and how long after the last request. */
    wantedPools: z.int().positive().max(10_000).default(1_000),
    wantedSecs: seconds.default(300),
    /** A pool that holds less than this in priced tokens has no worth. */
    minWorthUsd: z.number().positive().default(1),
    /** A reading that takes more gas burns it. */
    burnGas: z.int().positive().default(1_500_000),
    /** Pause of a pool after its first failure; it doubles with each further one. */
    firstPauseSecs: seconds.default(10),
    /** Longest pause of a pool without worth that fails, and of any that burns gas. */
    failedPauseSecs: seconds.default(40),
    burnedPauseSecs: seconds.default(900),
    /** Pause between two probes of a pool's guards. */
    guardPauseSecs: seconds.default(30),
  })
  .refine(
    ({ callsPerMinute, gasPerMinute, wantedPct, othersPct }) => {
      const saved = (SAVED_PART * Math.min(wantedPct, othersPct)) / 100;
      return callsPerMinute * saved >= LEAST_SAVED.calls && gasPerMinute * saved >= LEAST_SAVED.gas;
    },
    { error: 'the smaller of wantedPct and othersPct must leave 4 calls and 60 million gas per minute' },
  );

/**
 * What reading the pools that clients want at each new block may cost the nodes of one chain. A quarter can be saved up, of
 * which pools that no key wants may have a quarter. From 144 calls on that pays for the 9 calls that one pool may take.
 */
export const WarmBudgetConfig = z.strictObject({
  callsPerMinute: z.int().positive().default(720),
  gasPerMinute: z.int().positive().default(15_000_000_000),
  /** Part of both that is for pools that no key wants: half of it for those of worth, half for all others. */
  wantedPct: z.int().min(1).max(90).default(10),
});

export type WarmBudgetConfig = z.infer<typeof WarmBudgetConfig>;

export type ReadBudgetConfig = z.infer<typeof ReadBudgetConfig>;
