import type { Address } from 'viem';
import type { CurveKnowledge, CurveSearch, SearchContext, SearchStep } from '../../curve-search.ts';
import { decodeQuote, type ReadPrices } from '../create-adapter.ts';
import { pricePool } from '../ladder.ts';
import { poolCurve } from '../pool-side.ts';
import { fitSide } from './fit.ts';
import { planFit } from './fit-plan.ts';
import { agreesWithPrice } from './fit-proof.ts';
import { matchFormulas, trialProbes, triedFormulas } from './formula-trial.ts';
import type { Sides } from './formulas.ts';
import { isTradableQuote, PACKED_QUOTE } from './quote.ts';
import { isSameCode, readCode } from './read-code.ts';
import { type Asking, areGuardsAsked, failed, type PackedRead, proved, type Search, simulate } from './search.ts';
import { filledSwap, formSwaps, knownForm } from './searched-swaps.ts';
import { packedSimulation, type SimulationForm } from './simulation.ts';
import { walkSides } from './walk.ts';
import { walkedCurve } from './walked-curve.ts';

/*
 * What is asked of the chain about a packed pool, and when. A read has the pool's state, its prices and its provider's quote
 * already. Its arithmetic is not public, so that the curve is searched by the cheapest method that proves itself:
 *
 * 1. Formula. Where formulas agreed before, nothing is asked but the hashes of the code, which the read brings along: the
 *    same code, the same provider and the pool's own prices have to follow. Else, once: in which form the pool simulates
 *    swaps (2 swaps), whether formulas agree (8 swaps or more, `formula-trial.ts`), and then what the code is
 *    (`read-code.ts`): a formula counts only while hashes say what the code does.
 * 2. Fit. At every read: one swap to the end of each run of bins with one additional fee, and swaps drawn at random that
 *    prove the factors (`fit-plan.ts`), all in one shared call.
 * 3. Simulation. At every read: every edge of every bin by a program, a call or two a side (`walk.ts`). After a fit that did
 *    not hold, the next 30 reads go straight here.
 *
 * Besides: without a quote the provider is asked from address 0, one call; a side that is read as empty is asked for a unit.
 * Known guards are left out of simulated swaps where the node can do that, and evaluated afterwards as for any pool.
 */

/** How long a pool of which no fit held is simulated before a fit is tried again: each takes a call. */
const READS_WITHOUT_FIT = 30;

/** Searches the curve of a pool at the block of the read, by the cheapest method that proves itself. */
export function packedSearch(read: PackedRead): CurveSearch {
  return {
    start(context) {
      const provider = read.mutablePriceProvider ?? context.immutableProvider;
      if (read.quote || provider === null) return withQuote(read, context, read.quote);
      // The node puts no other code at the pool's address: some providers answer anyone who asks from address 0.
      return {
        kind: 'ask',
        target: provider,
        data: PACKED_QUOTE.selector,
        next: (data) => withQuote(read, context, decodeQuote(PACKED_QUOTE, { success: true, data })),
      };
    },
  };
}

function withQuote(read: PackedRead, context: SearchContext, quote: ReadPrices['quote']): SearchStep {
  const { known } = context;
  if (!quote || !isTradableQuote(quote)) {
    return { kind: 'failed', reason: 'the provider told no quote', known, dropped: null };
  }
  const provider = read.mutablePriceProvider ?? context.immutableProvider;
  return byKnownFormula({ ...read, priced: pricePool(read.state, quote), provider, context, known, dropped: null });
}

function byKnownFormula(search: Search): SearchStep {
  const { known, code, provider, priced, prices } = search;
  if (!known?.formulas) return askForm(search);
  // This read began before the formulas were known: it did not ask for the code.
  if (!code) return byFit({ ...search, form: known.form as SimulationForm });
  if (!isSameCode(code, known.formulas.code) || provider !== code.accounts[1]) {
    if (known.formulas.names.length > 0) search.context.refuted({ code, provider, formulas: known.formulas });
    return askForm({ ...search, known: undefined, dropped: 'code' });
  }
  const asking = { ...search, form: known.form as SimulationForm };
  if (known.formulas.names.length === 0) return byFit(asking);
  const { names, sides } = matchFormulas(priced, prices, known.formulas.names);
  if (sides) return found(asking, 'formula', sides, { ...known, formulas: { ...known.formulas, names } });
  search.context.refuted({ priced, prices, formulas: known.formulas });
  const dropped = names.length === 0 ? 'prices' : 'ambiguous';
  return tryFormulas({ ...asking, known: { ...known, formulas: null }, dropped });
}

function askForm(search: Search): SearchStep {
  const form = search.known?.form;
  if (form !== undefined) return tryFormulas({ ...search, form: form as SimulationForm });
  return {
    kind: 'simulate',
    swaps: formSwaps(search.priced, areGuardsAsked(search.context)),
    silenced: search.context.evaluatedGuards,
    next(results) {
      const found = knownForm(results);
      if (found === null) return failed(search, 'the pool simulates no swaps in a known form');
      return tryFormulas({ ...search, form: found, known: { form: found, formulas: null } });
    },
  };
}

function tryFormulas(search: Asking): SearchStep {
  const { priced, prices, provider } = search;
  const probes = trialProbes(priced);
  if (provider === null || probes.length === 0) return byFit(search);
  return simulate(search, probes, (results) => {
    const agreeing = triedFormulas(priced, prices, probes, results);
    return agreeing ? remember(search, provider, agreeing) : byFit(search);
  });
}

/** Formulas count only for the code that they agreed with, and only where its hashes say what it does. */
function remember(search: Asking, provider: Address, agreeing: readonly string[]): SearchStep {
  return readCode(search.context.pool, provider, agreeing.length > 0, (code, isTrusted) => {
    const names = isTrusted ? agreeing : [];
    const known = { form: search.form, formulas: { names, code } };
    const { sides } = matchFormulas(search.priced, search.prices, names);
    return sides ? proved(search, found(search, 'formula', sides, known)) : byFit({ ...search, known });
  });
}

function byFit(search: Asking): SearchStep {
  const { priced, context, prices, known } = search;
  const left = known?.readsWithoutFit ?? 0;
  if (known && left > 0) return bySimulation({ ...search, known: { ...known, readsWithoutFit: left - 1 } });
  const [bids, asks] = [planFit(priced, true, context.draw()), planFit(priced, false, context.draw())];
  if (!bids || !asks) return bySimulation(search);
  const probes = [bids, asks].flatMap((plan) =>
    plan.probes.map((amountSpecified) => ({ zeroForOne: plan.zeroForOne, amountSpecified })),
  );
  return simulate(search, probes, (results, isSilenced) => {
    const fills = probes.map((probe, index) => filledSwap(probe, results[index]));
    const sold = fitSide(bids, fills.slice(0, bids.probes.length), prices.sellX64);
    const bought = fitSide(asks, fills.slice(bids.probes.length), prices.buyX64);
    if (!sold || !bought) {
      // What known guards refused says nothing of the curve: the next read tries again.
      if (!isSilenced && context.evaluatedGuards.length > 0 && fills.includes(null)) return bySimulation(search);
      const didHold = context.known && context.known.readsWithoutFit === undefined;
      if (didHold) context.refuted({ priced, prices, probes, results });
      return bySimulation({ ...search, known: known && { ...known, readsWithoutFit: READS_WITHOUT_FIT } });
    }
    if (!agreesWithPrice(sold) || !agreesWithPrice(bought)) {
      return failed(search, 'the quote that the provider told is not the one that its pool gets');
    }
    const fitted = known && { form: known.form, formulas: known.formulas };
    return proved(search, found(search, 'fit', { bids: sold, asks: bought }, fitted));
  });
}

function bySimulation(search: Asking): SearchStep {
  const { priced, prices, form, context, known, dropped } = search;
  const { pool, isGuarded, isCallerJudged, evaluatedGuards } = context;
  if (isCallerJudged) return failed(search, 'an extension judges who swaps: it refuses to simulate for us');
  const learned = { rank: 'simulation', known, dropped } as const;
  const asItIs = () =>
    walkSides<SearchStep>({ pool, priced, form, isGuarded, silenced: [] }, prices, (bids, asks) => {
      return proved(search, { kind: 'sides', sides: { bids: bids.levels, asks: asks.levels }, ...learned });
    });
  if (evaluatedGuards.length === 0) return asItIs();
  const free = { pool, priced, form, isGuarded: false, silenced: evaluatedGuards };
  return walkSides<SearchStep>(free, prices, (bids, asks) => {
    // Where guards could not be left out, they are asked on the way.
    if (!bids.isWhole || !asks.isWhole) return asItIs();
    return proved(search, { kind: 'curve', curve: walkedCurve(bids, asks), ...learned });
  });
}

function found(
  { form, dropped }: Asking,
  rank: 'formula' | 'fit',
  sides: Sides,
  known: CurveKnowledge | undefined,
): SearchStep {
  return { kind: 'curve', rank, curve: poolCurve(sides, packedSimulation, form), known, dropped };
}
