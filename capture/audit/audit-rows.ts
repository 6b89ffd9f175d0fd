import { sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import { indexAudits } from '../../db/schema/operator.ts';
import { servedSchema } from '../../db/served-schema.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { BinRange } from '../../protocol/pool-state.ts';
import type { ReadExtension } from './extension-facts.ts';
import type { AuditedExtension } from './extensions.ts';
import { type IndexedFacts, plainFact } from './facts.ts';
import { type AllowlistRow, readGuardRows } from './indexed-extensions.ts';
import { PROVABLE, readIndexedPool } from './indexed-pool.ts';
import { type AuditState, NEVER_AUDITED } from './next-audit.ts';

/** When pools are compared: seconds between two comparisons, and most pools of a run. */
export interface AuditPace {
  readonly minSecs: number;
  readonly maxSecs: number;
  readonly pools: number;
  /** A run takes pools until they have this many bins. */
  readonly bins: number;
}

/** What is compared, as the index had it. */
export type Subject = {
  readonly address: Address;
  readonly factory: Address;
  readonly layout: string;
  readonly facts: IndexedFacts;
} & (
  | ({
      readonly kind: 'pool';
      readonly readExtensions: readonly ReadExtension[];
    } & BinRange)
  | { readonly kind: 'factory' }
);

/** What is compared of a chain. */
export interface AuditScope {
  /** Layouts of factories. */
  readonly layouts: ReadonlyMap<Address, string>;
  readonly extensions: ReadonlyMap<Address, AuditedExtension>;
}

/** Most accounts of a pool at an allowlist that are compared. */
const MAX_ACCOUNTS = 20;

/** What is compared next, and what is known of it. All are at one block, the newest final one of the index. */
export type DueSubject = Subject & {
  readonly block: number;
  /** Unix seconds. */
  readonly blockTimestamp: number;
  readonly indexedBlock: number;
  readonly before: AuditState;
};

type Before = Omit<AuditState, 'differsSince' | 'lastDifferenceAt'> & {
  readonly indexSchema: string;
  readonly differsSince: string | null;
  readonly lastDifferenceAt: string | null;
};

interface DueRow {
  readonly address: Address;
  readonly block: number;
  readonly blockTimestamp: number;
  readonly indexedBlock: number;
  readonly before: Before | null;
}

type PoolDueRow = DueRow & {
  readonly pool: string;
  readonly state: string;
  readonly extensions: readonly string[];
  readonly allowlists: readonly AllowlistRow[];
  readonly guards: string;
};

const duePools = loadStatement<PoolDueRow>('./pools-to-audit.sql', import.meta.url);
const provenFacts = loadStatement<{ readonly factory: string; readonly shown: readonly string[] }>(
  './proven-facts.sql',
  import.meta.url,
);
const dueFactories = loadStatement<DueRow & { readonly pools: number }>('./factories-to-audit.sql', import.meta.url);

/**
 * Reads what is due for a comparison, from one state of the database. First come pools with a difference to confirm,
 * then listed ones, of these the ones that changed. One of four turns is of the pool that has waited longest.
 *
 * @returns also what agreed in pools of each factory; a null schema while no index is served
 */
export async function readDue(
  database: pg.Pool,
  chainId: number,
  { layouts, extensions: standard }: AuditScope,
  { minSecs, maxSecs, pools: most, bins }: AuditPace,
) {
  return inTransaction(database, 'REPEATABLE READ', async (client) => {
    const schema = await servedSchema(client);
    if (schema === null) return { schema, subjects: [], proven: new Map<string, Set<string>>() };
    const factories = [...layouts.keys()];
    const proven = await readProven(client, chainId, factories);
    const pairs = [...proven].flatMap(([factory, facts]) => [...facts].map((fact) => [factory, fact] as const));
    const shown = [pairs.map(([factory]) => factory), pairs.map(([, fact]) => fact)];
    const pace = [minSecs, maxSecs, most, bins];
    const values = [chainId, schema, factories, ...pace, ...shown, [...standard.keys()], MAX_ACCOUNTS];
    const pools = await duePools(client, values, { schema });
    const counted = await dueFactories(client, [chainId, schema, factories, minSecs], { schema });
    const subjects: DueSubject[] = [
      ...pools.map(({ guards: ofGuards, pool, state, extensions, allowlists, ...row }) => {
        const guards = readGuardRows(ofGuards);
        const indexed = readIndexedPool({ pool, state, extensions, allowlists, guards });
        const settings = [...allowlists, ...guards.map(({ address }) => ({ address, accounts: [] }))];
        return {
          ...row,
          ...indexed,
          kind: 'pool' as const,
          readExtensions: settings.flatMap(({ address, accounts }) => {
            const extension = standard.get(address);
            return extension ? [{ address, accounts, ...extension }] : [];
          }),
          ...layoutOf(layouts, indexed.factory),
          ...stateOf(row, schema),
        };
      }),
      ...counted.map(({ pools: count, ...row }) => {
        const facts = { pools: plainFact('pools', String(count)) };
        const factory = row.address;
        return {
          ...row,
          facts,
          kind: 'factory' as const,
          factory,
          ...layoutOf(layouts, factory),
          ...stateOf(row, schema),
        };
      }),
    ];
    return { schema, subjects, proven };
  });
}

/** Whether it is known how pools of the layout store things. Of others, capture infers it. */
export const isLayoutPublic = (layout: string): boolean => layoutAdapter(layout).stored === null;

const layoutOf = (layouts: ReadonlyMap<Address, string>, factory: Address) => ({ layout: layouts.get(factory) ?? '' });

/** What was found of another index says nothing of this one, but a difference counts until a comparison of this one. */
function stateOf({ before }: DueRow, schema: string): { readonly before: AuditState } {
  if (before === null) return { before: NEVER_AUDITED };
  const lastDifferenceAt = before.lastDifferenceAt === null ? null : Date.parse(before.lastDifferenceAt);
  const { indexSchema, shown, ...rest } = before;
  const differsSince = before.differsSince === null ? null : Date.parse(before.differsSince);
  if (indexSchema !== schema) {
    const differences = differsSince === null ? [] : before.differences;
    return { before: { ...NEVER_AUDITED, lastDifferenceAt, shown, differsSince, differences } };
  }
  return { before: { ...rest, shown, differsSince, lastDifferenceAt } };
}

async function readProven(
  client: Queryable,
  chainId: number,
  factories: readonly Address[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (factories.length === 0) return new Map();
  const rows = await provenFacts(client, [chainId, factories, PROVABLE]);
  return new Map(rows.map(({ factory, shown }) => [factory, new Set(shown)]));
}

/** Stores what is known after comparisons of an index. */
export async function writeAudits(
  database: Queryable,
  chainId: number,
  schema: string,
  audited: readonly { readonly subject: Subject; readonly state: AuditState }[],
): Promise<void> {
  const rows = audited.map(({ subject: { address, factory }, state }) => ({
    chainId,
    address,
    factory,
    indexSchema: schema,
    ...state,
    differences: [...state.differences],
    shown: [...state.shown],
    differsSince: dateOf(state.differsSince),
    lastDifferenceAt: dateOf(state.lastDifferenceAt),
  }));
  await upsertRows(database, indexAudits, rows, {
    key: ['chainId', 'address'],
    computed: { triedAt: sql`now()` },
    evenIfSame: true,
  });
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
