// The other tasks of an order: its row, its parcel label, its mails.

import { Injectable } from '@nestjs/common';
import { Task, type TaskContext } from '../../src/index.js';
import { LabelPrinter } from './label.printer.js';
import { LedgerEntry, Order } from './order.entity.js';

@Injectable()
export class OrderTasks {
  constructor(private readonly printer: LabelPrinter) {}

  @Task('update-order', { transactional: true })
  async update({ orderId, ...changes }: { orderId: string } & Partial<Order>, { manager }: TaskContext) {
    await manager.update(Order, { id: orderId }, changes);
  }

  @Task('print-label', { transactional: true })
  async printLabel({ orderId, city, parcels }: { orderId: string; city: string; parcels: number }, { manager, signal }: TaskContext) {
    await manager.save(LedgerEntry, { orderId, kind: 'label' });
    await this.printer.print(signal);
    return { tracking: `${city.slice(0, 2).toUpperCase()}-${orderId}-${parcels}` };
  }

  /** Not transactional: a sent mail cannot be rolled back. The idempotency key keeps a second attempt from sending a second mail. */
  @Task('send-mail', { timeout: '10s', retry: { maxAttempts: 5, delay: '200ms' } })
  async sendMail({ to, kind }: { to: string; kind: string }, ctx: TaskContext) {
    ctx.logger.log(`mail "${kind}" to ${to} (key ${ctx.idempotencyKey})`);
    return { sent: kind };
  }
}
