/**
 * What a node may lack, or refuse:
 *
 * - `stateOverrides`, `blockOverrides`: to apply those of an `eth_call`; `programOverrides`:
 *   also where it runs creation code;
 * - `quotes`, `transfers`: calls under overrides that run the code of untrusted providers or tokens;
 * - `accessLists`, `traces`: the methods `eth_createAccessList` and `debug_traceCall`; `liveAccessLists`:
 *   the latter under state overrides;
 * - `oldState`, `logRange`: the state of old blocks, the logs of many blocks; `wholeLogs`: to leave none of them out.
 */
export type Ability =
  | 'stateOverrides'
  | 'programOverrides'
  | 'blockOverrides'
  | 'quotes'
  | 'transfers'
  | 'accessLists'
  | 'liveAccessLists'
  | 'traces'
  | 'oldState'
  | 'logRange'
  | 'wholeLogs';

/** What a request needs of a node. */
export interface Need {
  readonly ability: Ability;
  /** How much of it: number of blocks of `logRange`, negative block number of `oldState`. Default: 0. */
  readonly size?: number;
}

interface Finding {
  /** Null while a probe is to show it. */
  readonly has: boolean | null;
  /** Where the node lacks the ability: the smallest size that it lacks. */
  readonly size: number;
  readonly until: number;
}

/** What a node showed of itself. */
export type NodeAbilities = Readonly<Partial<Record<Ability, Finding>>>;

/** For this long a finding holds. */
export const KNOWN_MS = 60_000;

/**
 * Notes what a node showed.
 *
 * Invariants:
 * 1. A finding holds for `KNOWN_MS`. After that nothing is known, whatever was found before.
 * 2. While a node is known to lack an ability, it lacks all sizes from the smallest one that it lacked.
 * 3. A finding of one ability changes nothing that is known of another.
 *
 * @param has null when a probe begins
 */
export function learn(
  before: NodeAbilities,
  { ability, size = 0 }: Need,
  has: boolean | null,
  now: number,
): NodeAbilities {
  const known = findingOf(before, ability, now);
  const smallest = has === false && known?.has === false ? Math.min(known.size, size) : size;
  return { ...before, [ability]: { has, size: smallest, until: now + KNOWN_MS } };
}

/** Whether a node is known to lack what is needed. */
export function isLacking(abilities: NodeAbilities, { ability, size = 0 }: Need, now: number): boolean {
  const known = findingOf(abilities, ability, now);
  return known?.has === false && size >= known.size;
}

/** Whether a node is known to have an ability; null while a probe is to show it, undefined where nothing is known. */
export const hasAbility = (abilities: NodeAbilities, ability: Ability, now: number): boolean | null | undefined =>
  findingOf(abilities, ability, now)?.has;

function findingOf(abilities: NodeAbilities, ability: Ability, now: number): Finding | undefined {
  const found = abilities[ability];
  return found && now < found.until ? found : undefined;
}
