import type { Finding } from './calibration.ts';

/** Swaps that must have been seen before an interpretation counts. */
const MIN_SWAPS = 5;
/** Swaps that must have contradicted some interpretation: a single one may be a coincidence. */
const MIN_DECISIVE = 2;
/** Contradictions that are kept as evidence, of each interpretation. */
const KEPT = 3;

/** One interpretation of what is not certain. */
export interface Interpretation<Observation> {
  readonly name: string;
  agrees(observation: Observation): boolean;
}

/**
 * Compares every interpretation with every observation. Decides for the only interpretation that none contradicts.
 *
 * @param observations their names become the examples of contradictions
 */
export function judge<Observation extends { readonly name: string }>(
  what: string,
  interpretations: readonly Interpretation<Observation>[],
  observations: readonly Observation[],
): Finding {
  const contradictions = interpretations.map((interpretation) =>
    observations.filter((each) => !interpretation.agrees(each)),
  );
  const decisive = new Set(contradictions.flat()).size;
  const evidence = interpretations.map(({ name }, index) => {
    const against = contradictions[index] ?? [];
    return {
      name,
      agreed: observations.length - against.length,
      contradicted: against.length,
      examples: against.slice(0, KEPT).map((observation) => observation.name),
    };
  });
  const [first, ...others] = evidence.filter(({ contradicted }) => contradicted === 0);
  const isEnough = observations.length >= MIN_SWAPS && decisive >= MIN_DECISIVE;
  const decided = isEnough && first && others.length === 0 ? first.name : null;
  return { what, decided, observations: observations.length, decisive, interpretations: evidence };
}
