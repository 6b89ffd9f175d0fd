import { Notice, Skeleton } from './notice.tsx';

/** Stands in the place of a chart whose code is not loaded. */
export function ChartLoading({ isFailed, lines }: { readonly isFailed: boolean; readonly lines: number }) {
  if (!isFailed) return <Skeleton lines={lines} />;
  return (
    <Notice tone="bad">
      The chart could not be loaded. Trying again; after an update of the service, reload the page.
    </Notice>
  );
}
