import type { Address } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SellAndBuyPrices } from '../../curve.ts';
import type {
  CodeState,
  CurveKnowledge,
  CurveSearch,
  DropReason,
  SearchContext,
  SearchStep,
} from '../../curve-search.ts';
import type { PoolState } from '../../pool-state.ts';
import type { Probe } from './calibration/formulas.ts';
import { emptySideProbes, isShownEmpty } from './empty-sides.ts';
import { fitSide } from './fit.ts';
import { planFit } from './fit-plan.ts';
import { agreesWithPrice } from './fit-proof.ts';
import type { Sides } from './formula-curve.ts';
import { trialProbes, triedFormulas } from './formula-trial.ts';
import { type PricedPool, pricePool } from './ladder.ts';
import { packedCurve } from './pool-curve.ts';
import { decodeQuote, isTradableQuote, type ProviderQuote, QUOTE_CALL } from './provider-quote.ts';
import { isSameCode, readCode, readHashes } from './read-code.ts';
import { filledSwap, formSwaps, knownForm, searchedSwaps } from './searched-swaps.ts';
import type { SimulationForm } from './simulation.ts';
import { standIn } from './stand-in.ts';
import { walkSides } from './walk.ts';
import { walkedCurve } from './walked-curve.ts';

/** How long a pool of which no fit held is simulated before a fit is tried again: each takes a call. */
const READS_WITHOUT_FIT = 30;

/** What was read of a pool at one block. */
export interface PackedRead {
  readonly state: PoolState;
  /** The provider that the pool's storage names; null when it is an immutable of the pool. */
  readonly mutableProvider: Address | null;
  readonly prices: SellAndBuyPrices;
  readonly quote: ProviderQuote | undefined;
  readonly code: CodeState | undefined;
}

interface Search extends PackedRead {
  readonly priced: PricedPool;
  readonly provider: Address | null;
  readonly context: SearchContext;
  readonly known: CurveKnowledge | undefined;
  readonly dropped: DropReason | null;
}

/** A search that knows how swaps are simulated. */
type Asking = Search & { readonly form: SimulationForm };

/**
 * Searches the curve of a pool by the cheapest rank that proves itself at the block: a formula that agreed before, or agrees
 * now; fitted factors; every level simulated.
 */
export function packedSearch(read: PackedRead): CurveSearch {
  return {
    start(context) {
      const provider = read.mutableProvider ?? context.immutableProvider;
      if (read.quote || provider === null) return withQuote(read, context, read.quote);
      // The node puts no other code at the pool's address: some providers answer anyone who asks from address 0.
      return {
        kind: 'ask',
        target: provider,
        data: QUOTE_CALL,
        next: (data) => withQuote(read, context, decodeQuote({ success: true, data })),
      };
    },
  };
}

function withQuote(read: PackedRead, context: SearchContext, quote: ProviderQuote | undefined): SearchStep {
  const { known } = context;
  if (!quote || !isTradableQuote(quote)) {
    return { kind: 'failed', reason: 'the provider told no quote', known, dropped: null };
  }
  const provider = read.mutableProvider ?? context.immutableProvider;
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
  const { names, sides } = standIn(priced, prices, known.formulas.names);
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
  const accounts = [search.context.pool, provider] as const;
  if (agreeing.length === 0) return readHashes(accounts, (code) => withFormulas(search, [], code, null));
  return readCode(accounts, (code, distrust) => {
    return withFormulas(search, distrust === null ? agreeing : [], code, distrust);
  });
}

function withFormulas(search: Asking, names: readonly string[], code: CodeState, distrust: string | null): SearchStep {
  const known = { form: search.form, formulas: { names, code, distrust } };
  const { sides } = standIn(search.priced, search.prices, names);
  return sides ? proved(search, found(search, 'formula', sides, known)) : byFit({ ...search, known });
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

function simulate(
  { priced, form, context }: Asking,
  probes: readonly Probe[],
  next: (results: readonly CallResult[], isSilenced: boolean) => SearchStep,
): SearchStep {
  if (probes.length === 0) return next([], true);
  const swaps = searchedSwaps(priced, form, probes, areGuardsAsked(context));
  return { kind: 'simulate', swaps, silenced: context.evaluatedGuards, next };
}

/** Whether extensions take part in simulated swaps, which takes gas, where the node can leave known guards out. */
const areGuardsAsked = ({ isGuarded, evaluatedGuards }: SearchContext): boolean =>
  isGuarded && evaluatedGuards.length === 0;

/** The end of a search, once sides that are read as empty are shown to give nothing: other swaps do not touch them. */
function proved(search: Asking, end: SearchStep): SearchStep {
  const probes = emptySideProbes(search.priced);
  return simulate(search, probes, (results, isSilenced) => {
    const { isGuarded } = search.context;
    const mayReject = areGuardsAsked(search.context) || (isGuarded && !isSilenced);
    const isShown = probes.every((probe, index) => isShownEmpty(probe, results[index], mayReject));
    return isShown ? end : failed(search, 'a side that is read as empty is not shown to be');
  });
}

function found(
  { form, dropped }: Asking,
  rank: 'formula' | 'fit',
  sides: Sides,
  known: CurveKnowledge | undefined,
): SearchStep {
  return { kind: 'curve', rank, curve: packedCurve(sides, form), known, dropped };
}

function failed({ known, dropped }: Search, reason: string): SearchStep {
  return { kind: 'failed', reason, known, dropped };
}
