import type { Address } from 'viem';
import type {
  CurveKnowledge,
  CurveMethod,
  CurveSearch,
  DropReason,
  SearchChain,
  SearchEnd,
} from '../../curve-search.ts';
import { decodeQuote } from '../create-adapter.ts';
import { type PricedPool, pricePool } from '../ladder.ts';
import { poolCurve } from '../pool-side.ts';
import type { Sides } from '../side-curve.ts';
import { agreesWithPrice, fitSide } from './fit.ts';
import { furtherProbes, planFit } from './fit-plan.ts';
import { agreeingFormulas, matchFormulas } from './formulas.ts';
import { isTradableQuote, PACKED_QUOTE } from './quote.ts';
import { isSameCode, readCode } from './read-code.ts';
import {
  emptySidesGiveNothing,
  type PackedRead,
  type Search,
  SIDES,
  type SimulatedSearch,
  simulateSides,
} from './search.ts';
import { formSwaps, knownForm } from './searched-swaps.ts';
import { packedSimulation, type SimulationForm } from './simulation.ts';
import { type FoundSide, walkSide } from './walk.ts';
import { wholeOutput } from './walk-plan.ts';
import { beatsPrice } from './walk-prices.ts';
import { walkedCurve } from './walked-curve.ts';

/*
 * What is asked of the chain about a packed pool, and when. A read already has the pool's state, its prices and its
 * provider's quote. The pool's arithmetic is not public, so its curve is found by the cheapest method that proves
 * itself:
 *
 * 1. Formula. Where formulas agreed before, only hashes of the code are asked for, with the read itself. The formulas
 *    stand in for the pool if code and provider are the same, and if they give the pool's own prices.
 * 2. Fit. Otherwise one shared call simulates swaps to the end of each run of bins with one additional fee, and others
 *    drawn at random (`fit-plan.ts`). The first time, these swaps show which formulas agree exactly. Such formulas
 *    stand in for the pool as long as hashes determine what its code does (`read-code.ts`). Without one, fees are
 *    fitted to the first swaps and proved by the others (`fit.ts`).
 * 3. Simulation. Where no fit holds, a program simulates every edge of every bin, in a call or two a side (`walk.ts`).
 *    After a fit that did not hold, the next 30 reads start here.
 *
 * Besides, the form in which a pool simulates swaps is probed once (2 swaps). Without a quote, one call asks the
 * provider from address 0. A side that is read as empty is asked for a unit. Guards are left out of simulated swaps
 * where the node can do that. However the curve was found, guards are then evaluated or probed on it as on any
 * pool's.
 */

/** Reads that are simulated after a fit did not hold, before the next try: each try takes a call. */
const READS_WITHOUT_FIT = 30;

const JUDGED = 'an extension judges who swaps, and the node cannot leave it out';
const OTHER_QUOTE = 'the quote that the provider told is not the one that its pool gets';

/** Searches the curve of a pool at the block of the read, by the cheapest method that proves itself. */
export const packedSearch = (read: PackedRead): CurveSearch => ({
  async find(context, chain) {
    const provider = read.mutablePriceProvider ?? context.immutableProvider;
    const quote = read.quote ?? (provider === null ? undefined : await callQuote(chain, provider));
    if (!quote || !isTradableQuote(quote)) return failed('the provider told no quote', context.known);
    const search = { ...read, priced: pricePool(read.state, quote), provider, context, chain };
    const { known, dropped, sides } = matchingFormula(search);
    if (sides && known) return found('formula', sides, known.form, known);
    return { ...(await searchCurve(search, known)), dropped };
  },
  byFormulas({ names, form }) {
    if (!read.quote || !isTradableQuote(read.quote)) return null;
    const { sides } = matchFormulas(pricePool(read.state, read.quote), read.prices, names);
    return sides && poolCurve(sides, packedSimulation, form);
  },
});

/** Asks the provider itself, where the node cannot put code at the pool's address: some providers answer address 0. */
const callQuote = async (chain: SearchChain, provider: Address) =>
  decodeQuote(PACKED_QUOTE, { success: true, data: await chain.ask(provider, PACKED_QUOTE.selector) });

/** The sides by formulas that agreed before, if they may still stand in for the pool; and what stays known. */
function matchingFormula({ context, code, provider, priced, prices }: Search): {
  readonly known: CurveKnowledge | undefined;
  readonly dropped: DropReason | null;
  readonly sides: Sides | null;
} {
  const { known } = context;
  // Without code, this read began before the formulas were known.
  if (!known?.formulas || !code) return { known, dropped: null, sides: null };
  const { formulas } = known;
  if (!isSameCode(code, formulas.code) || provider !== code.accounts[1]) {
    if (formulas.names.length > 0) context.refuted({ code, provider, formulas });
    return { known: undefined, dropped: 'code', sides: null };
  }
  if (formulas.names.length === 0) return { known, dropped: null, sides: null };
  if (formulas.hadNotionalFee !== hasNotionalFee(priced))
    return { known: { ...known, formulas: null }, dropped: 'ambiguous', sides: null };
  const { names, sides } = matchFormulas(priced, prices, formulas.names);
  if (sides) return { known: { ...known, formulas: { ...formulas, names } }, dropped: null, sides };
  context.refuted({ priced, prices, formulas });
  return { known: { ...known, formulas: null }, dropped: names.length === 0 ? 'prices' : 'ambiguous', sides: null };
}

async function searchCurve(search: Search, before: CurveKnowledge | undefined): Promise<SearchEnd> {
  const form = (before?.form as SimulationForm | undefined) ?? (await probeForm(search));
  if (form === null) return failed('the pool simulates no swaps in a known form', before);
  const simulated = { ...search, form };
  const known = before ?? { form, formulas: null };
  if (!(await emptySidesGiveNothing(simulated)))
    return failed('a side that is read as empty is not shown to be', known);
  const left = known.readsWithoutFit ?? 0;
  if (left === 0 || !known.formulas) return bySwaps(simulated, known);
  return bySimulation(simulated, { ...known, readsWithoutFit: left - 1 });
}

async function probeForm({ priced, context, chain }: Search): Promise<SimulationForm | null> {
  const swaps = formSwaps(priced, context.isUnknownGuarded);
  return knownForm((await chain.simulate(swaps, context.guards)).results);
}

/** Simulates swaps: the first time, formulas that agree with them give the curve; else a fit to them, if it holds. */
async function bySwaps(simulated: SimulatedSearch, before: CurveKnowledge): Promise<SearchEnd> {
  const { priced, prices, provider, context, form } = simulated;
  const isTrial = before.formulas === null && provider !== null;
  const plans = SIDES.map((zeroForOne) => planFit(priced, zeroForOne, context.draw(), isTrial));
  const isFittable = plans.every((plan) => plan.isFittable);
  if (!isTrial && !isFittable) return bySimulation(simulated, before);
  const { probes, results, isSilenced, fills, ofSides } = await simulateSides(
    simulated,
    plans.map((plan) => plan.probes),
  );
  if (context.isCallerJudged && !isSilenced) return failed(JUDGED, before);
  const names = isTrial ? agreeingFormulas(priced, prices, probes, fills) : null;
  const known = names && provider ? await remember(simulated, provider, names) : before;
  const { sides } = matchFormulas(priced, prices, (names && known.formulas?.names) ?? []);
  if (sides) return found('formula', sides, form, known);
  if (!isFittable) return bySimulation(simulated, known);
  const further = plans.map((plan, side) => furtherProbes(plan, ofSides[side] ?? []));
  const proofs = await simulateSides(simulated, further);
  const [bids, asks] = plans.map((plan, side) => {
    const ownFills = [...(ofSides[side] ?? []), ...(proofs.ofSides[side] ?? [])];
    return fitSide(plan, ownFills, plan.zeroForOne ? prices.sellX64 : prices.buyX64);
  });
  if (bids && asks) {
    const isSameQuote = agreesWithPrice(bids) && agreesWithPrice(asks);
    if (!isSameQuote) return failed(OTHER_QUOTE, known);
    return found('fit', { bids, asks }, form, { form, formulas: known.formulas });
  }
  // Swaps that guards refused say nothing about the curve: the next read tries again.
  if (!isSilenced && context.guards.length > 0 && [...fills, ...proofs.fills].includes(null))
    return bySimulation(simulated, known);
  if (context.known && context.known.readsWithoutFit === undefined)
    context.refuted({ priced, prices, probes, results });
  return bySimulation(simulated, { ...known, readsWithoutFit: READS_WITHOUT_FIT });
}

/** Keeps formulas for the code that they agreed with, if its hashes determine what it does. */
async function remember(
  { chain, context, form, priced }: SimulatedSearch,
  provider: Address,
  agreeing: readonly string[],
): Promise<CurveKnowledge> {
  const { code, isTrusted } = await readCode(chain, context.pool, provider, agreeing.length > 0);
  return { form, formulas: { names: isTrusted ? agreeing : [], code, hadNotionalFee: hasNotionalFee(priced) } };
}

const hasNotionalFee = ({ state }: PricedPool): boolean => state.notionalFeeE8 > 0;

async function bySimulation(
  { priced, prices, form, context, chain }: SimulatedSearch,
  known: CurveKnowledge,
): Promise<SearchEnd> {
  const { pool, isCallerJudged, isUnknownGuarded, guards } = context;
  const walked = { pool, priced, form, isGuarded: isUnknownGuarded, silenced: guards };
  const bids = await walkSide(chain, walked, true, prices.sellX64);
  const asks = await walkSide(chain, walked, false, prices.buyX64);
  if (isCallerJudged && [bids, asks].some(isRefused)) return failed(JUDGED, known);
  if ([bids, asks].some(isOfOtherQuote)) return failed(OTHER_QUOTE, known);
  return { method: 'simulation', curve: walkedCurve(bids, asks), known, dropped: null };
}

/** Whether a side that holds something gave nothing. */
const isRefused = ({ side, pairs }: FoundSide): boolean => pairs.size === 0 && wholeOutput(side) > 0n;

const isOfOtherQuote = ({ side: { bare, edges }, bestX64, pairs, measured = pairs }: FoundSide): boolean =>
  beatsPrice(
    bare,
    bestX64,
    edges.map((edge) => measured.get(edge)),
  );

const found = (method: CurveMethod, sides: Sides, form: string, known: CurveKnowledge): SearchEnd => ({
  method,
  curve: {
    ...poolCurve(sides, packedSimulation, form),
    ...(method === 'formula' && { found: { names: known.formulas?.names ?? [], form } }),
  },
  known,
  dropped: null,
});

const failed = (reason: string, known: CurveKnowledge | undefined): SearchEnd => ({
  method: 'none',
  reason,
  known,
  dropped: null,
});
