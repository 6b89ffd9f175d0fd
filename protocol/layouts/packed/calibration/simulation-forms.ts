import { CALLER } from '../../../bounded-calls/bounded-calls.ts';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding } from '../../../calibration.ts';
import { SMALLEST_SWAP } from '../../../curve.ts';
import { Q64 } from '../../../fixed-point.ts';
import { swapOutcome } from '../../pool-errors.ts';
import { encodeSimulation, FORM_PROBE, type SimulationForm } from '../simulation.ts';

/** Pools that are asked. */
const MOST_POOLS = 3;
const FORMS = ['noSender', 'sender'] as const satisfies readonly SimulationForm[];
const ORDERS = [true, false].map((zeroForOne) => ({
  zeroForOne,
  amountSpecified: SMALLEST_SWAP,
  trader: CALLER,
  quote: { bidX64: Q64, askX64: Q64, referenceX64: Q64 },
}));

/** Which form of simulation pools know: the other one is an unknown function, which reverts without a word. */
export async function judgeSimulation(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pools: readonly CalibrationPool[],
): Promise<Finding> {
  const asked = pools.slice(0, MOST_POOLS);
  const readings = await Promise.all(FORMS.map((form) => askForm(chain, block, asked, form)));
  const known = readings.filter(({ agreed }) => agreed > 0);
  const [only] = known;
  const observations = asked.filter((_, index) => readings.some(({ answers }) => answers[index])).length;
  return {
    what: 'simulation',
    decided: known.length === 1 && only ? only.name : null,
    observations,
    decisive: observations,
    readings: readings.map(({ answers: _, ...reading }) => reading),
  };
}

async function askForm(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pools: readonly CalibrationPool[],
  form: SimulationForm,
) {
  const calls = pools.flatMap(({ address }) =>
    ORDERS.map((order) => ({ target: address, data: encodeSimulation(form, order), ...FORM_PROBE })),
  );
  const results = calls.length === 0 ? [] : await chain.attempts(block, calls);
  const spoke = results.map((result) => result !== null && swapOutcome(result) !== 'silence');
  const answers = pools.map((_, index) =>
    spoke.slice(index * ORDERS.length, (index + 1) * ORDERS.length).some(Boolean),
  );
  const silent = pools.filter((_, index) => !answers[index]);
  return {
    name: form,
    answers,
    agreed: pools.length - silent.length,
    contradicted: silent.length,
    examples: silent.map(({ address }) => `${address}@${block.number}: an empty revert`),
  };
}
