import { client, type ServiceStatus } from '../api.ts';
import { curlOf } from '../curl.ts';
import { age, count, NOTHING } from '../format.ts';
import { AgeBadge } from '../parts/age.tsx';
import { CurlBox } from '../parts/copy.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { usePolled } from '../polling.ts';

const EVERY_MS = 3_000;
const ANSWER_LIMITS = { amber: 10, red: 30 };

/** Shows how fresh the data of every chain are. */
export function StatusPage() {
  const { data, failure } = usePolled('status', (signal) => client.getStatus({}, { signal }), EVERY_MS);
  return (
    <>
      <div class="title">
        <h1>Status</h1>
        {data && <AgeBadge at={data.serverTs} limits={ANSWER_LIMITS} of="answer" />}
      </div>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {data ? <Chains status={data} /> : !failure && <Skeleton lines={4} />}
      <h2>Documents</h2>
      <p>
        <a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI document</a> ·{' '}
        <a href="/asyncapi.json">AsyncAPI document</a>
      </p>
      <h2>The same from a terminal</h2>
      <CurlBox line={curlOf(location.origin, '/public/v1/status')} />
    </>
  );
}

type ChainStatus = ServiceStatus['chains'][number];

const ageOrNothing = (secs: number | null) => (secs === null ? NOTHING : age(secs));

/** Headings with their class; those of class `wide` are left out on a narrow screen. */
const HEADINGS = [
  ['Head', 'wide'],
  ['Indexed', ''],
  ['Lag', ''],
  ['Prices', ''],
  ['Listing', 'wide'],
] as const;

function Chains({ status }: { readonly status: ServiceStatus }) {
  return (
    <table class="freshness">
      <caption class="offscreen">Freshness by chain</caption>
      <thead>
        <tr>
          <th scope="col">Chain</th>
          {HEADINGS.map(([label, width]) => (
            <th key={label} scope="col" class={`figure ${width}`}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {status.chains.map((chain) => (
          <ChainRow key={chain.chainId} chain={chain} />
        ))}
      </tbody>
    </table>
  );
}

function ChainRow({ chain }: { readonly chain: ChainStatus }) {
  const { lagBlocks, lagSecs, newestPriceAgeSecs, oldestPriceAgeSecs } = chain;
  return (
    <tr>
      <th scope="row">
        <bdi>{chain.name}</bdi> <Following chain={chain} />
      </th>
      <td class="figure wide">{count(chain.headBlock)}</td>
      <td class="figure">{count(chain.firstSync?.blockNumber ?? chain.indexedBlock)}</td>
      <td class="figure" title={lagSecs === null ? undefined : `${lagSecs} s`}>
        {lagBlocks === null ? NOTHING : `${count(lagBlocks)} blocks`}
      </td>
      <td
        class="figure"
        title={`newest ${ageOrNothing(newestPriceAgeSecs)}, oldest ${ageOrNothing(oldestPriceAgeSecs)}`}
      >
        {ageOrNothing(newestPriceAgeSecs)}
      </td>
      <td class="figure wide">{ageOrNothing(chain.listingAgeSecs)}</td>
    </tr>
  );
}

/** Whether the index follows its chain; while it is filled for the first time, how far it is. */
function Following({ chain: { following, firstSync, headBlock } }: { readonly chain: ChainStatus }) {
  if (firstSync && headBlock !== null) {
    const { fromBlock, blockNumber, logs } = firstSync;
    const [done, all] = [Math.max(0, (blockNumber ?? fromBlock) - fromBlock), Math.max(1, headBlock - fromBlock)];
    return (
      <span class="chip warn" title={`${count(done)} of ${count(all)} blocks, ${count(logs)} events`}>
        first sync {Math.min(100, Math.floor((100 * done) / all))}%
      </span>
    );
  }
  return <span class={`chip ${following ? 'good' : 'bad'}`}>{following ? 'following' : 'not following'}</span>;
}
