// The meter of a run: fuel and heap bytes, charged before the work is done, and what happens at their limits.

import type { RunErrorCode } from '../diagnostics/codes.js';
import { RUN_ERRORS } from '../diagnostics/error-codes.js';
import type { FlowLimits } from '../limits.js';
import { LimitReached } from './exceptions.js';

// A base class, so that the counters are fields of the VM itself: the dispatch loop reads them at every jump back.
export abstract class Meter {
  /** Left of this turn; `fuelFloor` is where the slice ends. */
  fuel = 0;
  fuelFloor = 0;
  heapBytes = 0;
  /** The run is over: its limits no longer apply. */
  protected closing = false;
  private heapCeiling: number;
  private mustMeasure = false;
  /** The floor of the slice while a measurement is due. */
  private sliceFloor = 0;

  constructor(readonly limits: FlowLimits) {
    this.heapCeiling = limits.heapBytes;
  }

  /** Measures what the run can still reach: undefined while the slice ends before the measurement does. */
  protected abstract measureReachable(): number | undefined;

  charge(units: number): void {
    this.fuel -= units;
    if (this.fuel < 0) throw this.limit('FLOW_LIMIT_FUEL', `${this.limits.fuelPerTurn} units of fuel in one turn`);
  }

  /** Called by the dispatch loop where it may stop: true when the slice is used up. */
  checkpoint(units: number): boolean {
    this.fuel -= units;
    if (this.fuel >= this.fuelFloor) return false;
    if (this.fuel < 0) throw this.limit('FLOW_LIMIT_FUEL', `${this.limits.fuelPerTurn} units of fuel in one turn`);
    if (this.mustMeasure) this.measure();
    return this.fuel < this.fuelFloor;
  }

  /** Whether the slice is used up: a stepped native then yields PAUSE. */
  get isDue(): boolean {
    return this.fuel < this.fuelFloor;
  }

  // Allocating takes time too, so bytes also cost fuel; the next checkpoint notices.
  chargeBytes(bytes: number): void {
    this.fuel -= bytes >> 5;
    this.allocate(bytes);
  }

  /** Only the bytes. */
  protected allocate(bytes: number): void {
    this.heapBytes += bytes;
    if (this.heapBytes > this.heapCeiling) this.heapFull();
  }

  // Bytes are only ever added, so the count includes garbage. At the ceiling the reachable heap is measured, where the
  // dispatch loop next stops: until then natives may go on to twice the limit.
  private heapFull(): void {
    if (this.heapBytes > this.heapCeiling + this.limits.heapBytes)
      throw this.limit('FLOW_LIMIT_HEAP', `${this.limits.heapBytes} bytes of heap`);
    if (this.mustMeasure) return;
    this.mustMeasure = true;
    this.sliceFloor = this.fuelFloor;
    this.fuelFloor = Number.POSITIVE_INFINITY;
  }

  // Nothing of the run moves while it is measured, so the walk may take as many slices as it needs.
  private measure(): void {
    this.mustMeasure = false;
    this.fuelFloor = this.sliceFloor;
    const reachable = this.measureReachable();
    if (reachable === undefined) {
      this.mustMeasure = true;
      return;
    }
    // What was charged is an upper bound too: the smaller one is more exact.
    this.heapBytes = Math.min(this.heapBytes, reachable);
    const { heapBytes } = this.limits;
    if (this.heapBytes > heapBytes) throw this.limit('FLOW_LIMIT_HEAP', `${heapBytes} bytes of heap`);
    // At least an eighth of the limit is allocated between two measurements, so that measuring stays cheap.
    this.heapCeiling = Math.max(heapBytes, this.heapBytes + (heapBytes >> 3));
  }

  /** The run is over, perhaps at a limit: describing its end must not reach one again. */
  allowClosing(): void {
    this.closing = true;
    this.fuel = Math.max(this.fuel, this.limits.fuelPerSlice);
    this.heapBytes = 0;
  }

  startSlice(fuel: number): void {
    const floor = Math.max(0, this.fuel - fuel);
    this.sliceFloor = floor;
    this.fuelFloor = this.mustMeasure ? Number.POSITIVE_INFINITY : floor;
  }

  limit(code: RunErrorCode, what: string): LimitReached {
    return new LimitReached(code, `The run used more than ${what}. ${RUN_ERRORS[code].advice}`);
  }
}
