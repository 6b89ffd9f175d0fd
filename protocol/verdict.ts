import type { Finding } from './calibration.ts';

/** Swaps that must have been seen before an interpretation counts. */
const LEAST_SWAPS = 5;
/** Swaps that must have told interpretations apart: a single one may be a coincidence. */
const LEAST_DECISIVE = 2;
/** Contradictions that are kept as evidence, of each interpretation. */
const KEPT = 3;

/** One interpretation of what is not certain: says why an observation contradicts it, or null when the two agree. */
export interface Hypothesis<Name extends string, Observation> {
  readonly name: Name;
  contradiction(observation: Observation): string | null;
}

/** What observations said of one interpretation. */
export interface Evidence<Name extends string> {
  readonly name: Name;
  readonly agreed: number;
  readonly contradicted: number;
  /** The first contradictions, each with the index of its observation. */
  readonly examples: readonly { readonly observation: number; readonly why: string }[];
}

/** `decided` is the only interpretation that nothing contradicts; null as long as it is not certain. */
export interface Verdict<Name extends string> {
  readonly decided: Name | null;
  readonly observations: number;
  /** Observations that contradict some interpretation. */
  readonly decisive: number;
  readonly readings: readonly Evidence<Name>[];
}

/** Compares every interpretation with every observation. */
export function judge<Name extends string, Observation>(
  hypotheses: readonly Hypothesis<Name, Observation>[],
  observations: readonly Observation[],
): Verdict<Name> {
  const contradictions = hypotheses.map((hypothesis) =>
    observations.flatMap((observation, index) => {
      const why = hypothesis.contradiction(observation);
      return why === null ? [] : [{ observation: index, why }];
    }),
  );
  const decisive = new Set(contradictions.flatMap((list) => list.map(({ observation }) => observation))).size;
  const readings = hypotheses.map(({ name }, index): Evidence<Name> => {
    const list = contradictions[index] ?? [];
    return {
      name,
      agreed: observations.length - list.length,
      contradicted: list.length,
      examples: list.slice(0, KEPT),
    };
  });
  const [first, ...others] = readings.filter(({ contradicted }) => contradicted === 0);
  const enough = observations.length >= LEAST_SWAPS && decisive >= LEAST_DECISIVE;
  const decided = enough && first && others.length === 0 ? first.name : null;
  return { decided, observations: observations.length, decisive, readings };
}

/**
 * A verdict as it is stored and shown.
 *
 * @param seen the observations, by the names by which they are found again
 */
export function finding(what: string, verdict: Verdict<string>, seen: readonly { readonly name: string }[]): Finding {
  const { decided, observations, decisive } = verdict;
  const readings = verdict.readings.map(({ examples, ...reading }) => ({
    ...reading,
    examples: examples.map(({ observation, why }) => `${seen[observation]?.name}: ${why}`),
  }));
  return { what, decided, observations, decisive, readings };
}
