/** What always holds, the test that would fail if it did not, and a mutation of the code that makes it false. */
export interface Invariant {
  readonly holds: string;
  /** File and name of the test, or the part of its name that all of its cases have. */
  readonly test: readonly [file: string, name: string];
  /** A file, a text that it has once, and what takes its place. */
  readonly mutation: readonly [file: string, text: string, replacement: string];
}

/** In the order of the page; new ones go to the end, since numbers are quoted. */
export const INVARIANTS: readonly Invariant[] = [
  {
    holds: 'The index equals the chain: a swap moves its bins, cursor and balances as it moved those of the pool.',
    test: ['indexer/reducers/swap.test.ts', 'a swap moves totals, balances, bins and cursor'],
    mutation: ['indexer/reducers/swap.ts', 'state.balance1Raw + event.amount1Delta', 'state.balance1Raw'],
  },
  {
    holds: 'Totals of a pool are the sums over its events.',
    test: ['protocol/pool-totals.test.ts', 'a swap counts on the side of its input and of its output'],
    mutation: ['protocol/pool-totals.ts', 'positive(-amount1Delta)', 'positive(amount1Delta)'],
  },
  {
    holds: 'A block that is indexed again counts once.',
    test: ['indexer/handlers/open-swaps.test.ts', 'a block that is indexed again starts from scratch'],
    mutation: ['indexer/handlers/open-swaps.ts', ' && (open.parts.at(-1)?.logIndex ?? -1) < logIndex', ''],
  },
  {
    holds: 'Readers see one index: all views switch at once.',
    test: ['indexer/publication/live-views.test.ts', 'what is done alongside is undone with the switch'],
    mutation: ['indexer/publication/live-views.ts', "statements.join(';')", "statements.join(';COMMIT;BEGIN;')"],
  },
  {
    holds: 'A migration runs once, as it was written.',
    test: ['db/migrate.test.ts', 'a file that was edited after it ran is refused by name'],
    mutation: ['db/migrate.ts', 'checksums.get(name) !== checksum', '!checksums.has(name)'],
  },
  {
    holds: 'Amounts round in favour of the pool.',
    test: ['protocol/scaling.test.ts', 'round out of the pool down and into the pool up'],
    mutation: ['protocol/scaling.ts', 'return scaled / multiplier;', 'return divCeil(scaled, multiplier);'],
  },
  {
    holds: 'Integers keep all of their digits on their way through JSON.',
    test: ['runtime/json.test.ts', 'an integer of any size survives the way in and out'],
    mutation: ['runtime/json.ts', '!Number.isSafeInteger(value)', '!Number.isInteger(value)'],
  },
  {
    holds: 'A response names a block that no part of it is older than.',
    test: ['api/http/block-headers.test.ts', 'of several blocks, the oldest is reported'],
    mutation: ['api/http/block-headers.ts', 'other.number < one.number', 'other.number > one.number'],
  },
  {
    holds: 'No older block is shown than before, unless the chain went back.',
    test: ['quoting/heads/next-heads.test.ts', 'a node that lags never takes the head back'],
    mutation: ['quoting/heads/judge-heads.ts', 'block.number > last.number ||', 'block.number !== last.number ||'],
  },
  {
    holds: 'A head is not served beyond its time.',
    test: ['quoting/heads/head-tracker.test.ts', 'a head is not served beyond its time while the chain cannot be seen'],
    mutation: ['quoting/heads/head-state.ts', 'now < dueAt + GRACE_MS ? current : undefined', 'current'],
  },
  {
    holds: 'Every amount inside the offered depth fills.',
    test: ['protocol/layouts/flat/side-curve.test.ts', 'are what the pool takes and gives for exactly their input'],
    mutation: [
      'protocol/layouts/side-curve.ts',
      'cumulativeInput: toRawCeil(raised(inputBefore + fill.input, fees), multiplierIn)',
      'cumulativeInput: toRawFloor(raised(inputBefore + fill.input, fees), multiplierIn)',
    ],
  },
  {
    holds: 'Guards accept every amount inside the offered depth.',
    test: ['protocol/layouts/flat/stop-loss-limit.test.ts', 'every amount inside the limit is accepted'],
    mutation: [
      'protocol/layouts/stop-loss-limit.ts',
      'const safe = bisect(0n, rejected, slice.available >> PRECISION_BITS, accepts);',
      'const safe = rejected;',
    ],
  },
  {
    holds: 'A side whose tokens do not move is closed.',
    test: [
      'protocol/transfers/transfer-limits.test.ts',
      'a side is closed when nothing of its input or its output moves',
    ],
    mutation: [
      'protocol/transfers/transfer-limits.ts',
      'bids: token0.in === 0n || token1.out === 0n',
      'bids: token1.out === 0n',
    ],
  },
  {
    holds: 'A pool is healthy only if one of its sides trades.',
    test: ['protocol/quote-status.test.ts', 'of both sides refused'],
    mutation: ['protocol/quote-status.ts', 'bidsRejected && asksRejected }', 'false }'],
  },
  {
    holds: 'The worst fact about a pool decides its tier.',
    test: ['protocol/classification.test.ts', "gives 'red' when"],
    mutation: ['protocol/classification.ts', "has('red') ? 'red'", "has('red') ? 'yellow'"],
  },
  {
    holds: 'Legs of a plan pass on exactly what they receive.',
    test: ['protocol/routing/split.test.ts', 'conserves amounts'],
    mutation: [
      'protocol/routing/routes.ts',
      'fill(used, path.far, near.found)',
      'fill(used, path.far, near.found - 1n)',
    ],
  },
  {
    holds: 'Routes of a plan share the liquidity of a pool.',
    test: ['protocol/routing/split.test.ts', 'counts the liquidity of a shared pool once'],
    mutation: ['protocol/routing/routes.ts', 'used.set(hop, end);', ''],
  },
  {
    holds: 'Reported depth displaces no observed pool.',
    test: ['protocol/routing/choose-pools.test.ts', 'leave half of the places of a leg to observed pools'],
    mutation: ['protocol/routing/choose-pools.ts', 'Math.ceil(maxPerLeg / 2)', 'maxPerLeg'],
  },
  {
    holds: 'A stream sends each state of a pool at most once, in order.',
    test: ['test/stream/slow-reader.test.ts', 'who does not read gets the latest only'],
    mutation: ['api/stream/next-messages.ts', 'versions[index] = quote.version;', ''],
  },
  {
    holds: 'Quotes of a client that knows its block are those of that block.',
    test: ['test/stream/stream.property.test.ts', 'a client of four processes holds what REST says of its block'],
    mutation: [
      'api/latest/latest-quotes.ts',
      'known !== undefined && isSameOutcome(known.outcome, outcome);',
      'known !== undefined;',
    ],
  },
  {
    holds: 'What a stream sent of a replaced block is sent again.',
    test: ['test/stream/stream.property.test.ts', 'a client of four processes holds what REST says of its block'],
    mutation: ['api/stream/next-messages.ts', '!isVoid(index) ? version :', 'index >= 0 ? version :'],
  },
  {
    holds: 'A client that resumes misses no change.',
    test: ['test/stream/resume.test.ts', 'another process resumes after a block that it read too'],
    mutation: ['api/latest/latest-quotes.ts', 'quote.version <= version &&', ''],
  },
  {
    holds: 'A client that does not read costs bounded memory and time.',
    test: ['test/stream/slow-reader.test.ts', 'who does not read gets the latest only'],
    mutation: ['api/stream/next-subscriber.ts', 'state.fullTicks > MAX_FULL_TICKS', 'false'],
  },
  {
    holds: 'Of a uuid, an older update never replaces a newer one.',
    test: ['builders/submit/stream/stream-order.test.ts', 'any sequence of updates of several keys is registered'],
    mutation: ['builders/submit/stream/register.lua', "then return 'older' end", 'then end'],
  },
  {
    holds: 'A uuid belongs to one key.',
    test: ['builders/submit/stream/stream-order.test.ts', 'of several keys at the same time one gets a uuid'],
    mutation: ['builders/submit/stream/register.lua', "then return 'foreign' end", 'then end'],
  },
  {
    holds: 'One worker sends to an endpoint at a time.',
    test: ['runtime/lease/lease.test.ts', 'one holder at a time'],
    mutation: ['runtime/lease/acquire.lua', 'if holder and holder ~= token then', 'if false then'],
  },
  {
    holds: 'A revoked key is refused within three seconds.',
    test: ['api/auth/key-verifier.test.ts', 'a key is valid from its issue to its revocation'],
    mutation: ['api/auth/key-verifier.ts', 'const FRESH_MS = 2_000;', 'const FRESH_MS = 5_000;'],
  },
  {
    holds: 'A mistyped key costs no query.',
    test: ['api/auth/key-verifier.test.ts', 'a key with one wrong, missing or further character'],
    mutation: ['db/api-keys.ts', 'checksum === undefined || checksum === checksumOf(text)', 'text'],
  },
  {
    holds: 'The database holds no key.',
    test: ['api/auth/key-verifier.test.ts', 'the table holds no key'],
    mutation: ['db/api-keys.ts', "return createHash('sha256').update(key).digest();", 'return Buffer.from(key);'],
  },
  {
    holds: 'Logs hold no key, password or path of a node.',
    test: ['runtime/logger.test.ts', 'no line holds a key, a password, or more of a URL than its host'],
    mutation: ['runtime/logger.ts', "'*.authorization', ", ''],
  },
  {
    holds: 'All API processes share one count of a client.',
    test: ['api/limits/rate-limit.test.ts', 'replicas share one count'],
    mutation: ['api/limits/rate-limit.ts', 'countRequests(redis, [', 'countRequests(redis, [Math.random() + '],
  },
  {
    holds: 'A client cannot choose the address that it is counted under.',
    test: ['api/http/client-address.test.ts', 'the entry that the nearest proxy wrote'],
    mutation: ['api/http/client-address.ts', 'hops.at(-trustedProxies)', 'hops.at(0)'],
  },
  {
    holds: 'No minute has more scheduled calls than the budget.',
    test: ['chain/read-schedule/call-budget.test.ts', 'no minute has more calls than the budget'],
    mutation: ['chain/read-schedule/call-budget.ts', 'this.#left = this.leftAt(now) - 1;', ''],
  },
  {
    holds: 'A sum with an unknown part is unknown, never too small.',
    test: ['capture/listing/usd-value.test.ts', 'one unknown value makes a sum unknown'],
    mutation: ['capture/listing/usd-value.ts', 'if (value === null) return null;', 'if (value === null) continue;'],
  },
  {
    holds: 'Texts of tokens are shown harmless.',
    test: ['db/shown-tokens.test.ts', 'no text, however odd, is shown long, hidden, turned or as markup'],
    mutation: ['migrations/0002_read_model.sql', "'<>&\"''`,;', '‹›＆”’‘‚；'", "'&\"''`,;', '＆”’‘‚；'"],
  },
  {
    holds: 'What another process read is used at the block that it was read at alone.',
    test: ['quoting/sharing/block-reads.test.ts', 'whatever is lost, repeated or late'],
    mutation: [
      'quoting/sharing/block-reads.ts',
      'const value = block?.values.get(name);',
      'const value = this.#last.get(name);',
    ],
  },
  {
    holds: 'A value that is sent as a digest is one with that content.',
    test: ['quoting/sharing/block-reads.test.ts', 'whatever is lost, repeated or late'],
    mutation: ['quoting/sharing/block-reads.ts', 'each?.digest === digest', "each !== undefined && digest !== ''"],
  },
  {
    holds: 'Of the processes that read a chain, one holds a block, and Redis gave it the block.',
    test: ['quoting/sharing/block-readers.test.ts', 'of the processes that surely hold a block there is one'],
    mutation: ['quoting/sharing/block-readers.ts', "answer === 'failed' ? 'each' :", "answer === 'failed' ? 'own' :"],
  },
  {
    holds: 'No process reads live sources while another one holds them.',
    test: ['quoting/sharing/feed-schedule.test.ts', 'one process reads at a time, and a cancel reaches all'],
    mutation: ['quoting/sharing/feed-schedule.ts', "isReading: event.reader === 'own',", 'isReading: true,'],
  },
  {
    holds: 'That the last live price ended is published at once.',
    test: ['quoting/sharing/feed-schedule.test.ts', 'one process reads at a time, and a cancel reaches all'],
    mutation: ['quoting/sharing/feed-schedule.ts', 'event.digest === null || !published', '!published'],
  },
  {
    holds: 'A live quote is of a block that is not built yet.',
    test: ['quoting/live/live-heads.test.ts', 'a new head replaces the block being built at once'],
    mutation: ['quoting/live/take-head.ts', 'blockNumber > on.number && blockNumber > on.top && ', ''],
  },
  {
    holds: 'No source of live prices overrides storage of pools and tokens.',
    test: [
      'quoting/live/live-heads.property.test.ts',
      'whatever comes, a block being built is the next one or that after it',
    ],
    mutation: ['quoting/live/take-head.ts', '!protectedAccounts?.has(account)', 'true'],
  },
  {
    holds: 'Live quotes are given only by nodes that ran the call in the block that is being built.',
    test: ['test/live/truth.test.ts', 'where nodes do not run calls in the block being built (ignoreBlock)'],
    mutation: ['chain/override-checks.ts', 'if (clock?.data === numberToHex', 'if (clock || numberToHex'],
  },
  {
    holds: 'A price level pays exactly what its frame says.',
    test: ['protocol/price-levels.test.ts', 'each level has the output of a swap of its input'],
    mutation: ['protocol/price-levels.ts', 'outputOf(amountIn));', 'outputs.get(amountIn) ?? outputOf(amountIn));'],
  },
  {
    holds: 'Overrides of a source are passed on only if the chains file says so.',
    test: ['quoting/live/frame-merger.test.ts', 'only the overrides of sources that may be passed on are'],
    mutation: ['quoting/live/sourced-block.ts', 'source.republish === true', 'true'],
  },
  {
    holds: 'A client that resumes elsewhere keeps no live price that was withdrawn.',
    test: ['test/stream/live-resume.property.test.ts', 'a live price that the next process never saw does not stay'],
    mutation: ['api/stream/next-messages.ts', 'else if (isLive(quote)) live = latest[kind];', ''],
  },
  {
    holds: 'No client holds a live price for long that its source cancelled, or does not repeat any more.',
    test: ['test/simulate/simulate.test.ts', 'whatever goes wrong, readers hold nothing for long that is not true'],
    mutation: [
      'quoting/live/next-live-head.ts',
      'return [before.watchers > 0 ? { ...before, wakeAt: before.announcedAt + spacing } : before, NOTHING];',
      'return [before, NOTHING];',
    ],
  },
  {
    holds: 'Once nothing fails any more, all clients have the newest block and all live prices.',
    test: ['test/simulate/simulate.test.ts', 'whatever goes wrong, readers hold nothing for long that is not true'],
    mutation: [
      'quoting/live/next-live-head.ts',
      'const isNew = state.taken !== state.announced;',
      'const isNew = false;',
    ],
  },
  {
    holds: 'The block that frames of price levels name goes back only when the chain does.',
    test: [
      'quoting/live/target-block.test.ts',
      'whatever is read, the number of frames goes back only when the chain does',
    ],
    mutation: ['quoting/live/target-block.ts', '? highest : own', '? own : own'],
  },
  {
    holds: 'A frame of chosen pools has each healthy one, or comes late as a whole.',
    test: ['api/levels/frame-contents.test.ts', 'never leaves out a pool that waits for its turn'],
    mutation: ['api/levels/frame-contents.ts', "if (unread.length > 0) return 'late';", ''],
  },
  {
    holds: 'A pool that was not read because the chain advanced has not failed: frames wait for it.',
    test: [
      'quoting/reads/snapshot-cache.test.ts',
      'a pool that was not read because the chain advanced has not failed',
    ],
    mutation: ['quoting/reads/snapshot-cache.ts', ' && error.cause !== undefined', ''],
  },
  {
    holds: 'A client that takes frames gets them, or is sent away.',
    test: ['api/levels/frame-schedule.test.ts', 'after two seconds when nothing of the chain is known'],
    mutation: ['api/levels/frame-schedule.ts', 'knownAt) + MAX_SILENCE_MS', 'knownAt) + 2 * MAX_SILENCE_MS'],
  },
  {
    holds: 'No client gets an old frame.',
    test: ['api/levels/frame-schedule.test.ts', 'gets none that was begun before it joined, but the next one'],
    mutation: ['api/levels/frame-schedule.ts', 'if (joinedAt <= begunAt) to', 'if (joinedAt <= Infinity) to'],
  },
  {
    holds: 'Where calls are few, each requested pool has its turn.',
    test: [
      'chain/read-schedule/read-scheduler.test.ts',
      'property: whose turn it is and how many wait is as if all reads were looked at',
    ],
    mutation: ['chain/read-schedule/read-scheduler.ts', 'lastTurn(a) - lastTurn(b)', 'lastTurn(b) - lastTurn(a)'],
  },
  {
    holds:
      'A client that goes to another process sees no older block there, while Redis answers and nodes are two seconds apart at most.',
    test: [
      'quoting/heads/heard-heads.test.ts',
      'property: who is less than two seconds behind another process awaits its height',
    ],
    mutation: ['quoting/heads/heard-heads.ts', ' || last.number <= head', ' || last.number > head'],
  },
  {
    holds: 'A head that was read gives way to no older one because a node refuses it.',
    test: [
      'quoting/heads/next-heads-replaced.test.ts',
      'a rejected head that was read stays until a higher one, or another in its place, comes',
    ],
    mutation: ['quoting/heads/next-heads.ts', 'if (readAt === hash) return due', 'if (readAt !== hash) return due'],
  },
  {
    holds: 'All calls of a quote after a part of a block ran on that part.',
    test: ['chain/part-view.test.ts', 'a call that ran on another part shows it'],
    mutation: ['chain/part-view.ts', 'one.feesWei === other.feesWei &&', 'true &&'],
  },
  {
    holds: 'A part is used only on the head, or a moment before it, and never after a later one.',
    test: ['quoting/parts/next-part.test.ts', 'property: invariants hold whatever nodes show'],
    mutation: ['quoting/parts/next-part.ts', 'view.feesWei < last.feesWei', 'view.feesWei > last.feesWei'],
  },
  {
    holds: 'A part costs no call only if all before it is used.',
    test: [
      'quoting/parts/part-pushes.test.ts',
      'property: a part costs no call only if all that happened before it is used',
    ],
    mutation: [
      'quoting/parts/part-pushes.ts',
      'last?.isUnchanged === true && shown === changes &&',
      'last?.isUnchanged === true &&',
    ],
  },
  {
    holds: 'Parts that differ from sealed blocks in more than 1% of comparisons, also without one pool, are not used.',
    test: ['quoting/parts/next-divergence.test.ts', 'property: invariants hold whatever is compared'],
    mutation: [
      'quoting/parts/next-divergence.ts',
      '(different.length - most) * 100 >',
      '(different.length - most) * 100 <',
    ],
  },
];
