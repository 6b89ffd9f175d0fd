import { TIERS as TIER_TERMS } from '../glossary-terms.ts';
import { go, here } from '../location.ts';
import { textOf, useTyped } from '../typed.ts';
import { hrefOf, type PoolsView, SORT_NAMES, SORTS, type Sort, TIERS, viewOf } from './pools-query.ts';

/** Changes a part of the present view and shows its first page. */
const change = (part: Partial<PoolsView>, replace = false) =>
  go(hrefOf({ ...viewOf(here.peek().searchParams), offset: 0, ...part }), replace);

const checked = (event: Event) => (event.currentTarget as HTMLInputElement).checked;

/** Search, filters and sort order of the list: each change is a new address. */
export function Filters({ view }: { readonly view: PoolsView }) {
  const sorts = SORTS.filter((sort) => sort !== 'created' || view.chain !== null);
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <SearchField search={view.search} />
      <label>
        Sort
        <select value={view.sort} onChange={(event) => change({ sort: textOf(event) as Sort })}>
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              {SORT_NAMES[sort]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        aria-label={view.order === 'desc' ? 'Best first; change to last first' : 'Last first; change to best first'}
        onClick={() => change({ order: view.order === 'desc' ? 'asc' : 'desc' })}
      >
        {view.order === 'desc' ? '↓' : '↑'}
      </button>
      <fieldset>
        <legend>Tier</legend>
        {TIERS.map((tier) => (
          <Check
            key={tier}
            label={TIER_TERMS[tier].label}
            value={view.tiers.includes(tier)}
            onChange={(on) => change({ tiers: TIERS.filter((one) => (one === tier ? on : view.tiers.includes(one))) })}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>Only</legend>
        <Check label="favourites" value={view.starred} onChange={(starred) => change({ starred })} />
        <Check label="locked pricing" value={view.locked} onChange={(locked) => change({ locked })} />
        <Check
          label="restricted deposits"
          value={view.allowlisted}
          onChange={(allowlisted) => change({ allowlisted })}
        />
      </fieldset>
      <Check label="also below $10 or unpriced" value={view.small} onChange={(small) => change({ small })} />
    </form>
  );
}

type CheckProps = { readonly label: string; readonly value: boolean; readonly onChange: (on: boolean) => void };

const Check = ({ label, value, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={value} onChange={(event) => onChange(checked(event))} />
    {label}
  </label>
);

/** A field that searches shortly after the last key was pressed. */
function SearchField({ search }: { readonly search: string }) {
  const [text, type] = useTyped(search, (typed) => change({ search: typed }, true));
  return (
    <label class="search">
      Search
      <input type="search" placeholder="symbol, pair or address" maxLength={64} value={text} onInput={type} />
    </label>
  );
}
