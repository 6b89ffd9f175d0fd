/** What is compared of a pool, as text. The index has it from events, the chain from storage. */
export const FACTS = [
  'pauseLevel',
  'cursor',
  'spreadFee',
  'notionalFee',
  'totals',
  'accruedNotionalFees',
  'provider',
  'binBalances0',
  'binBalances1',
  'binShapes',
  'shares',
  'factoryFees',
  'admin',
  'adminFeeDestination',
  'extensions',
  'allowAll',
  'allowedAccounts',
  'stopLossSettings',
  'velocityLimits',
] as const;

/** `pools` is the number of pools of a factory. */
export type FactName = (typeof FACTS)[number] | 'pools';

/** A fact of the index. */
export interface IndexedFact {
  readonly value: string;
  /** What agreement shows: that the chain is read as the index counts. Empty where the value shows nothing. */
  readonly shows: readonly string[];
  /** What must have been shown before a difference counts; of a public layout, only where the fact is inferred. */
  readonly needs: string;
  /** Whether no source says that contracts log all changes of it. Absent: no. */
  readonly isInferred?: boolean;
  /** Whether a value of the chain can follow from another way of counting the same events. Absent: none is known. */
  readonly mayBe?: (value: string) => boolean;
}

/** Facts of one side. One that the side does not have is missing. */
export type IndexedFacts = Readonly<Partial<Record<FactName, IndexedFact>>>;
export type ChainFacts = Readonly<Partial<Record<FactName, string>>>;

/** What a comparison found. */
export type Outcome =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'agrees'; readonly block: number; readonly shown: readonly string[] }
  /** No pool of the factory shows what a difference needs. `facts` differ whatever would be shown. */
  | {
      readonly kind: 'unproven';
      readonly block: number;
      readonly shown: readonly string[];
      readonly needs: readonly string[];
      readonly facts: readonly FactName[];
    }
  | {
      readonly kind: 'differs';
      readonly block: number;
      readonly shown: readonly string[];
      readonly facts: readonly FactName[];
    };

/** Makes a fact whose agreement shows something unless all of its numbers are zero. */
export function plainFact(name: FactName, value: string): IndexedFact {
  const isZero = /^(0x)?[0, ]*$/.test(value);
  return { value, shows: isZero ? [] : [name], needs: name };
}

/** What a comparison depends on besides both sides. */
export interface Comparison {
  readonly block: number;
  /** Whether it is known how pools of the layout store things. */
  readonly isPublic: boolean;
  /** What agreed in pools of the factory. */
  readonly proven: ReadonlySet<string>;
  /** Facts of a difference that counts. */
  readonly differing: readonly string[];
  /** What agreed here before. */
  readonly shown: readonly string[];
}

/**
 * Compares both sides at a block.
 *
 * 1. A fact that one side does not have is not compared; without the facts of the chain the outcome is unknown.
 * 2. A difference is proven only where `proven` has what the fact needs. A layout that is not public may be read
 *    wrongly, and what is inferred may be counted wrongly, and then no pool of the factory agrees.
 * 3. While a fact that differs is missing, the outcome is unknown: its difference does not end.
 * 4. While the chain lacks a fact of the index that agreed before, nothing agrees: it may differ in what was not read.
 */
export function compareFacts(
  index: IndexedFacts,
  chain: ChainFacts,
  { block, isPublic, proven, differing, shown: agreed }: Comparison,
): Outcome {
  const names = (Object.keys(chain) as FactName[]).filter((name) => index[name] !== undefined);
  const lacks = (name: string) => !names.some((each) => each === name);
  if (names.length === 0 || differing.some(lacks)) return { kind: 'unknown' };
  const shown = new Set<string>();
  const facts: FactName[] = [];
  const unproven: FactName[] = [];
  const needs = new Set<string>();
  for (const name of names) {
    const fact = index[name];
    if (fact === undefined) continue;
    const value = chain[name] ?? '';
    if (fact.value !== value) {
      if ((isPublic && !fact.isInferred) || proven.has(fact.needs)) facts.push(name);
      else needs.add(fact.needs);
      if (!fact.mayBe?.(value)) unproven.push(name);
    } else for (const name of fact.shows) shown.add(name);
  }
  const found = { block, shown: [...shown] };
  if (facts.length > 0) return { kind: 'differs', ...found, facts };
  if (agreed.some((name) => Object.hasOwn(index, name) && lacks(name))) return { kind: 'unknown' };
  return needs.size > 0
    ? { kind: 'unproven', ...found, needs: [...needs], facts: unproven }
    : { kind: 'agrees', ...found };
}
