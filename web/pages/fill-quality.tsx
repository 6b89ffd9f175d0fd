import { client, type PoolDay } from '../api.ts';
import { bps, compactAmount, count, NOTHING, share } from '../format.ts';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { nameOf, type Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { wholeTokens } from '../quantities.ts';

const EVERY_MS = 60_000;
const SHOWN = 7;
const TITLES = ['Trades', 'Compared', 'Median', 'Worst', 'Worse than quoted', 'Lost in a block, p95', 'Shown and gone'];

type Props = { readonly chainId: number; readonly pool: string; readonly tokens: readonly [Token, Token] };

/** Shows for the last days of a pool what trades got, next to what the pool had quoted for their input. */
export function FillQuality({ chainId, pool, tokens }: Props) {
  const load = (signal: AbortSignal) => client.listDays({ chainId, poolAddress: pool, limit: SHOWN }, { signal });
  const { data, failure } = usePolled(`${chainId}:${pool}`, load, EVERY_MS);
  if (!data) return failure ? <Notice tone="bad">{failure}</Notice> : <Skeleton lines={3} />;
  if (data.data.length === 0) return null;
  const [token0] = tokens;
  return (
    <Scroll label="Days">
      <table class="days">
        <caption>
          What trades got beside what was quoted one block before, by days (UTC). Differences that come from a price
          update between are normal. The last two columns are of quotes that nobody took, of the worse side.
        </caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {[...TITLES.slice(0, 1), `${nameOf(token0)} traded`, ...TITLES.slice(1)].map((title) => (
              <th key={title} scope="col" class="figure">
                <bdi>{title}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.data.map((day) => (
            <Row key={day.dayTs} day={day} decimals={token0.decimals} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Row({ day, decimals }: { readonly day: PoolDay; readonly decimals: number | null }) {
  const { dayTs, swapCount, volume0Raw, fillQuality } = day;
  const volume = decimals === null ? NOTHING : compactAmount(Number(wholeTokens(BigInt(volume0Raw), decimals)));
  const worse = fillQuality?.worseShare ?? null;
  const ofBlock = day.persistence.filter(({ horizon }) => horizon === '1_block');
  const gone = greatest(day.persistence.map(({ goneShare }) => goneShare));
  return (
    <tr>
      <td>{new Date(dayTs * 1_000).toISOString().slice(0, 10)}</td>
      <td class="figure">{count(swapCount)}</td>
      <td class="figure">{volume}</td>
      <td class="figure">{count(fillQuality?.comparedCount ?? 0)}</td>
      <td class="figure">{bps(fillQuality?.medianBps)}</td>
      <td class="figure">{bps(fillQuality?.worstBps)}</td>
      <td class="figure">{worse === null ? NOTHING : share(worse, 1)}</td>
      <td class="figure">{bps(greatest(ofBlock.map(({ p95Bps }) => p95Bps)))}</td>
      <td class="figure">{gone === null ? NOTHING : share(gone, 1)}</td>
    </tr>
  );
}

function greatest(figures: readonly (number | null)[]): number | null {
  const known = figures.filter((figure) => figure !== null);
  return known.length === 0 ? null : Math.max(...known);
}
