import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { HeadTracker } from './head-tracker.ts';

/** What gives the block to read at: the chain's committed head, or the block that is being built on it. */
export type Heads = Pick<
  HeadTracker<ReportedHead>,
  'current' | 'top' | 'told' | 'known' | 'fresh' | 'head' | 'isTooOld' | 'onHead' | 'watch' | 'reject'
>;
