/** Command-line options of the demo. */
export interface DemoOptions {
  /** Seconds after which it stops by itself. */
  readonly duration?: number;
  /** Of the traffic: the same seed gives the same actions. */
  readonly seed: number;
  /** Actions per second and chain. */
  readonly rate: number;
  /** Folder for one log file per process. */
  readonly logs?: string;
}
