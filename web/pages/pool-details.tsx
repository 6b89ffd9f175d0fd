import type { ComponentChildren } from 'preact';
import type { Pool } from '../api.ts';
import { explorerPage } from '../chains.ts';
import { age, count, moment, NOTHING, percentOfBps, share, usdFull, usdShort } from '../format.ts';
import { Hex } from '../parts/copy.tsx';

type Props = { readonly pool: Pool; readonly chainId: number };

type FactProps = { readonly label: string; readonly title?: string; readonly children: ComponentChildren };

function Fact({ label, title, children }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd title={title}>{children}</dd>
    </div>
  );
}

const Usd = ({ label, value }: { readonly label: string; readonly value: number | null | undefined }) => (
  <Fact label={label} title={usdFull(value)}>
    {usdShort(value)}
  </Fact>
);

/** Shows TVL and the figures of the last 24 hours. */
export function DayFigures({ pool }: { readonly pool: Pool }) {
  const day = pool.analytics24h;
  return (
    <dl class="facts">
      <Usd label="TVL" value={pool.tvlFiat} />
      <Usd label="Volume 24 h" value={day?.volumeFiat} />
      <Usd label="Fees 24 h" value={day?.feesFiat} />
      <Fact label="APR 24 h">{percentOfBps(day?.aprBps)}</Fact>
      <Fact label="APR 7 days">{percentOfBps(pool.aprBps7d)}</Fact>
      <Fact label="Swaps 24 h">{count(day?.swapTxCount)}</Fact>
      <Fact label="Liquidity changes 24 h">{count(day?.liquidityEventCount)}</Fact>
      {pool.indexState && <Fact label="Index">differs from the chain: figures are unknown</Fact>}
    </dl>
  );
}

const feeShare = (value: number | null, one: number) => (value === null ? NOTHING : share(value, one));

/** Shows who decides about the pool, and what it charges. */
export function PoolDetails({ pool, chainId }: Props) {
  const address = (value: string, label: string) => (
    <Hex value={value} href={explorerPage(chainId, 'address', value)} label={label} />
  );
  return (
    <dl class="facts">
      <Fact label="Pool">{address(pool.poolAddress, 'pool')}</Fact>
      <Fact label="Token 0">{address(pool.token0, 'token 0')}</Fact>
      <Fact label="Token 1">{address(pool.token1, 'token 1')}</Fact>
      <Fact label="Curator">
        {pool.adminUsername && <bdi>{pool.adminUsername} </bdi>}
        {pool.admin && address(pool.admin, 'curator')}
        {pool.verifiedAdmin && ' verified'}
      </Fact>
      <Fact label="Created" title={moment(pool.createdTimestamp)}>
        block {count(pool.createdBlockNumber)}
      </Fact>
      <Fact label="Protocol fee on notional">{feeShare(pool.protocolNotionalFeeE8, 1e8)}</Fact>
      <Fact label="Curator fee on notional">{feeShare(pool.adminNotionalFeeE8, 1e8)}</Fact>
      <Fact label="Protocol share of spread">{feeShare(pool.spreadProtocolFeeE6, 1e6)}</Fact>
      <Fact label="Curator share of spread">{feeShare(pool.spreadAdminFeeE6, 1e6)}</Fact>
      <Fact label="Pause level">{pool.pauseLevel === 0 ? '0, active' : count(pool.pauseLevel)}</Fact>
      <Fact label="Deposits">{pool.depositWhitelistingEnabled ? 'restricted to an allowlist' : 'open'}</Fact>
      <Fact label="Release">
        <bdi>{pool.contractVersion}</bdi>
      </Fact>
    </dl>
  );
}

/** Shows where the pool's price comes from, and what guards the pool. */
export function Guards({ pool, chainId }: Props) {
  const { stopLoss, priceVelocity } = pool.extensionDetails ?? {};
  const { priceProviderAddress: provider, priceProviderCooldownSecs: cooldown } = pool;
  return (
    <>
      <dl class="facts">
        <Fact label="Price provider">
          <Hex value={provider} href={explorerPage(chainId, 'address', provider)} label="price provider" />
        </Fact>
        <Fact label="Provider can change">{pool.lockedPricing ? 'never' : `after ${age(Number(cooldown))}`}</Fact>
        {pool.priceProviderChange && <Fact label="Change pending">to another provider</Fact>}
        <Fact label="Stop loss">{stopLoss ? settingsOf(stopLoss) : 'none'}</Fact>
        <Fact label="Price velocity guard">{priceVelocity ? settingsOf(priceVelocity) : 'none'}</Fact>
        {pool.extensions.map((extension, index) => (
          <Fact key={extension} label={`Extension ${index + 1}`}>
            <Hex
              value={extension}
              href={explorerPage(chainId, 'address', extension)}
              label={`extension ${index + 1}`}
            />
          </Fact>
        ))}
      </dl>
      <Details details={pool.priceProviderDetails} />
    </>
  );
}

const ONE_E6 = 1e6;
const ONE_E18 = 1e18;
const SECS_PER_DAY = 86_400;
const fraction = (value: string | null, one: number) => (value === null ? 'not set' : share(Number(value), one));

type Extensions = NonNullable<Pool['extensionDetails']>;

function settingsOf(settings: NonNullable<Extensions['stopLoss']> | NonNullable<Extensions['priceVelocity']>): string {
  if ('maxChangePerBlockE18' in settings) return `at most ${fraction(settings.maxChangePerBlockE18, ONE_E18)} a block`;
  const { drawdownE6, decayPerSecondE18, timelockSecs } = settings;
  const decay = decayPerSecondE18 === null ? 'not set' : share(Number(decayPerSecondE18) * SECS_PER_DAY, ONE_E18);
  const delay = timelockSecs === null ? '' : `, changes after ${age(Number(timelockSecs))}`;
  return `drawdown ${fraction(drawdownE6, ONE_E6)}, decay ${decay} a day${delay}`;
}

/** Shows every setting of the provider under its name in the API. */
function Details({ details }: { readonly details: Pool['priceProviderDetails'] }) {
  if (!details) return <p class="mute">The provider was made by no known factory: its settings are not known.</p>;
  return (
    <details>
      <summary>Settings of the {details.providerType} provider</summary>
      <dl class="facts">
        {Object.entries(details)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <Fact key={name} label={name}>
              <bdi class="any">{String(value)}</bdi>
            </Fact>
          ))}
      </dl>
    </details>
  );
}
