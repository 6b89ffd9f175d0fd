import type { Change } from '../invariants/copy-checkout.ts';

/** A change of the code that a simulation must find. */
export type Mutation = Change & { readonly name: string };

/** Faults that the service once had come first. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'that the last live price ended is not sent to other processes',
    file: 'quoting/sharing/shared-feed.ts',
    text: 'publish && feed.shared()',
    replacement: 'publish && feed.state() && feed.shared()',
  },
  {
    name: 'a stream that is resumed elsewhere keeps live prices',
    file: 'api/latest/latest-quotes.ts',
    text: 'name === this.#name ? Number(mark) : 0',
    replacement: 'name === this.#name ? Number(mark) : read.version',
  },
  {
    name: 'a replaced update stays until the next one is traced',
    file: 'quoting/live/own-updates.ts',
    text: 'written: holds ? written : undefined',
    replacement: 'written',
  },
  {
    name: 'who joins after the last frame is never sent away',
    file: 'api/levels/frame-schedule.ts',
    text: 'if (now < silentAt(',
    replacement: 'if (joinedAt > state.frameAt || now < silentAt(',
  },
  {
    name: 'a heartbeat comes before all pools are read',
    file: 'api/stream/next-messages.ts',
    text: 'if (state.isBeatDue && due.isWhole)',
    replacement: 'if (state.isBeatDue)',
  },
  {
    name: 'a process goes on reading sources while another one does',
    file: 'quoting/sharing/feed-schedule.ts',
    text: "isReading: event.reader === 'own', unknownSince",
    replacement: "isReading: event.reader === 'own' || state.isReading, unknownSince",
  },
  {
    name: 'overrides are used however old',
    file: 'quoting/live/source-parts.ts',
    text: 'now - receivedAt <= maxAgeMs',
    replacement: 'receivedAt <= now && maxAgeMs > 0',
  },
  {
    name: 'a value of another block is used',
    file: 'quoting/sharing/block-reads.ts',
    text: 'each?.digest === digest',
    replacement: "each !== undefined && digest !== ''",
  },
  {
    name: 'what was sent of a replaced block is not sent again',
    file: 'api/stream/next-messages.ts',
    text: '(sentAt[index] ?? 0n) >= from',
    replacement: '(sentAt[index] ?? 0n) > from',
  },
  {
    name: 'frames do not wait for pools that are not read',
    file: 'api/levels/frame-contents.ts',
    text: "if (unread.length > 0) return 'late';",
    replacement: '',
  },
  {
    name: 'the block of frames goes back with the overrides',
    file: 'quoting/live/target-block.ts',
    text: '? highest : own',
    replacement: '? own : own',
  },
  {
    name: 'a client forgets no quote that is withdrawn',
    file: 'client/stream/held-quotes.ts',
    text: 'this.#quotes.delete(poolAddress);',
    replacement: '',
  },
  {
    name: 'overrides that ended are not announced',
    file: 'quoting/live/next-live-head.ts',
    text: 'return [before.watchers > 0 ? { ...before, wakeAt: before.announcedAt + spacing } : before, NOTHING];',
    replacement: 'return [before, NOTHING];',
  },
  {
    name: 'a scheduled read takes no call from the budget',
    file: 'chain/read-schedule/call-budget.ts',
    text: '(own.leftAt(now) >= 1 ? own : this.#first).take(now);',
    replacement: '',
  },
  {
    name: 'the pool whose turn was last comes first',
    file: 'chain/read-schedule/read-scheduler.ts',
    text: 'lastTurn(a) - lastTurn(b)',
    replacement: 'lastTurn(b) - lastTurn(a)',
  },
  {
    name: 'a process goes by its own nodes alone',
    file: 'quoting/heads/next-heads.ts',
    text: `? withPushed(step, event) : step;
    case 'heard':
      return withAnnounced({`,
    replacement: `? step : step;
    case 'heard':
      return step ?? withAnnounced({`,
  },
  {
    name: 'a pool fails because the chain advanced while it was read',
    file: 'quoting/reads/snapshot-cache.ts',
    text: "error.code === 'timed_out' && error.cause !== undefined",
    replacement: "error.code === 'timed_out'",
  },
];
