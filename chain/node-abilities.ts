import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { OutageLog } from '../runtime/outage-log.ts';

/** What nodes may lack, and do without which quotes cost more or show less. */
export type Ability = 'stateOverrides' | 'transfers' | 'accessLists';

/** What is logged when nodes lack an ability, and when they have it again. */
const LOGGED: Readonly<Record<Ability, { readonly begin: string; readonly end: string }>> = {
  stateOverrides: {
    begin: 'nodes do not apply state overrides: prices are inverted instead',
    end: 'nodes apply state overrides again',
  },
  transfers: {
    begin: 'nodes do not apply state overrides: transfers of tokens are not tried',
    end: 'transfers of tokens are tried again',
  },
  accessLists: {
    begin: 'no node gives access lists: state overrides cost more reads',
    end: 'nodes give access lists again',
  },
};

/** For this long an ability that nodes lacked is not tried again. */
const RETRY_MS = 60_000;

interface Known {
  readonly outage: OutageLog;
  lackedUntil: number;
}

/** What the nodes of a chain do besides plain calls, as their answers show it: known once for all who call them. */
export class NodeAbilities {
  readonly #known: Readonly<Record<Ability, Known>>;
  readonly #now: Clock;

  constructor(logger: Pick<Logger, 'info' | 'warn'>, now: Clock = () => performance.now()) {
    const known = (ability: Ability) => ({
      outage: new OutageLog(logger, { ...LOGGED[ability], now }),
      lackedUntil: Number.NEGATIVE_INFINITY,
    });
    this.#known = {
      stateOverrides: known('stateOverrides'),
      transfers: known('transfers'),
      accessLists: known('accessLists'),
    };
    this.#now = now;
  }

  /** Whether to try: false for a while after nodes lacked the ability. */
  mayHave(ability: Ability): boolean {
    return this.#now() >= this.#known[ability].lackedUntil;
  }

  /** Notes that nodes lack an ability. @param error how they refused, if they did */
  lacks(ability: Ability, error?: unknown): void {
    const known = this.#known[ability];
    known.lackedUntil = this.#now() + RETRY_MS;
    known.outage.failed(error);
  }

  /** Notes that nodes have an ability. */
  has(ability: Ability): void {
    this.#known[ability].outage.worked();
  }
}
