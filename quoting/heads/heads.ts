import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { HeadTracker } from './head-tracker.ts';

/**
 * What gives the block to read at: the chain's committed head, or the block that is being built on it. Which to take:
 *
 * | | Age of the report | Age of the block | Polls | For |
 * |---|---|---|---|---|
 * | `head()` | recent | allowed | waits for a poll | a request that reads |
 * | `fresh()` | recent | allowed | in the background, when due | what must not wait |
 * | `announced` | recent | any | never | what only shows the head; `isTooOld` says whether to quote at it |
 * | `current` | any | any | never | comparing a block with the one that reads are of |
 * | `top` | any | any | never | height of the last block seen, which may not be read at yet |
 */
export type Heads = Pick<
  HeadTracker<ReportedHead>,
  | 'current'
  | 'top'
  | 'isPassed'
  | 'announced'
  | 'fresh'
  | 'head'
  | 'isTooOld'
  | 'isBehind'
  | 'caughtUp'
  | 'onHead'
  | 'watch'
  | 'confirm'
  | 'isConfirmed'
  | 'reject'
>;
