import type pg from 'pg';
import type { Address } from 'viem';
import { CHUNK_GAS, type ContractCall, type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type AuditPace,
  type AuditScope,
  type DueSubject,
  isLayoutPublic,
  readDue,
  type Subject,
  writeAudits,
} from './audit-rows.ts';
import { poolCalls, poolCountCall, poolGas, readChainFacts, readPoolCount } from './chain-facts.ts';
import { compareFacts, type FactName, type Outcome } from './facts.ts';
import { findLastAgreement } from './last-agreement.ts';
import { type AuditEffect, nextAudit } from './next-audit.ts';
import { readInHalves } from './read-in-halves.ts';

/** What a comparison changed in what is known of a pool or factory. */
export interface AuditChange {
  readonly effect: Exclude<AuditEffect, null>;
  readonly address: Address;
  readonly facts: readonly string[];
  readonly block: number | null;
  /** Last final block at which both sides agreed; null without one. */
  readonly agreedBlock: number | null;
}

export interface AuditDeps {
  readonly database: pg.Pool;
  /** Requests wait for the budget of the audit. */
  readonly target: MulticallTarget;
  readonly scope: () => Promise<AuditScope>;
  readonly pace?: AuditPace;
  readonly onChange: (change: AuditChange) => void;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
}

/**
 * A pool is compared at most once a minute when its events became final, and at least once a day.
 * A run fits into one call, or two if pools have many bins and long allowlists.
 */
const PACE: AuditPace = { minSecs: 60, maxSecs: 86_400, pools: 50, bins: 5_000 };

/** Most past states that a run reads to find out since when pools differ. */
const MAX_PAST_READS = 20;

/**
 * Compares due pools and factories of the served index with the chain, at the newest block that is final in the index.
 * Where no node has the state of that block, or another block at its height, nothing is found out.
 *
 * @returns number of pools and factories compared
 * @throws an error of Postgres
 */
export async function auditIndex(deps: AuditDeps): Promise<number> {
  const { database, target, scope, pace = PACE } = deps;
  const { schema, subjects, proven } = await readDue(database, target.chainId, await scope(), pace);
  const [first] = subjects;
  if (schema === null || first === undefined) return 0;
  const answers = await readChain(target, first, subjects);
  const now = deps.wallClock();
  const outcomes = compareAll(subjects, answers, proven);
  const audited = subjects.map((subject, index) => {
    const event = { outcome: outcomes[index] ?? UNKNOWN, indexedBlock: subject.indexedBlock, now };
    const { state, effect } = nextAudit(subject.before, event);
    return { subject, state, effect };
  });
  await writeAudits(database, target.chainId, schema, audited);
  let reads = MAX_PAST_READS;
  for (const { subject, state, effect } of audited) {
    const { agreedBlock: lastBlock, auditedBlock: block, differences } = state;
    const facts = effect === 'differs' ? differences : subject.before.differences;
    let agreedBlock = lastBlock;
    if (effect === 'differs' && subject.kind === 'pool' && agreedBlock !== null) {
      const found = await findLastAgreement({ database, target, schema }, subject, { differences, agreedBlock }, reads);
      reads -= found.reads;
      if (found.block > agreedBlock)
        await writeAudits(database, target.chainId, schema, [
          { subject, state: { ...state, agreedBlock: found.block } },
        ]);
      agreedBlock = found.block;
    }
    if (effect !== null) deps.onChange({ effect, address: subject.address, facts, block, agreedBlock });
  }
  return answers.filter((results) => results !== undefined).length;
}

/** Compares all; what one pool of a factory shows, it shows for those that come before it as well. */
function compareAll(
  subjects: readonly DueSubject[],
  answers: readonly (readonly CallResult[] | undefined)[],
  proven: Proven,
): readonly Outcome[] {
  const compare = (by: Proven) => subjects.map((subject, index) => outcomeOf(subject, answers[index], by));
  const all = new Map([...proven].map(([factory, facts]) => [factory, new Set(facts)]));
  for (const [index, outcome] of compare(proven).entries()) {
    const factory = subjects[index]?.factory;
    if (factory === undefined || outcome.kind === 'unknown') continue;
    all.set(factory, new Set([...(all.get(factory) ?? []), ...outcome.shown]));
  }
  return compare(all);
}

function outcomeOf(subject: DueSubject, results: readonly CallResult[] | undefined, proven: Proven): Outcome {
  if (results === undefined) return UNKNOWN;
  const chain = subject.kind === 'pool' ? readChainFacts(subject, results) : readPoolCount(results[0]);
  const { differsSince, differences, shown } = subject.before;
  return compareFacts(subject.facts, chain, {
    block: subject.block,
    isPublic: isLayoutPublic(subject.layout),
    proven: proven.get(subject.factory) ?? NOTHING,
    differing: differsSince === null ? [] : differences,
    shown,
  });
}

const UNKNOWN: Outcome = { kind: 'unknown' };

type Proven = ReadonlyMap<string, ReadonlySet<string>>;

const NOTHING: ReadonlySet<FactName> = new Set();

/** Nothing where the nodes do not have the block, or have another one there than the index. */
async function readChain(
  target: MulticallTarget,
  { block, blockTimestamp }: Pick<DueSubject, 'block' | 'blockTimestamp'>,
  subjects: readonly Subject[],
): Promise<readonly (readonly CallResult[] | undefined)[]> {
  const header = await target.rpc.blockAt(BigInt(block)).catch((error: unknown) => {
    if (error instanceof RpcFailure) return null;
    throw error;
  });
  if (header?.timestamp !== BigInt(blockTimestamp)) return [];
  return readInHalves(subjects, (some) => multicall(target, { block: header }, some.map(callsOf)));
}

/** No calls for a pool with more bins than a node reads at once: nothing is found out of it. */
function callsOf(subject: Subject): ContractCall[] {
  if (subject.kind === 'factory') return [poolCountCall(subject.address)];
  return poolGas(subject) > CHUNK_GAS ? [] : poolCalls(subject);
}
