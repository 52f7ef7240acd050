// The shop's HTTP API.

import { BadRequestException, Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { SignalService } from '../../src/index.js';
import { type NewOrder, OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly signals: SignalService,
  ) {}

  @Post()
  @HttpCode(202)
  place(@Body() order: NewOrder) {
    if (typeof order?.id !== 'string' || !order.customer?.address || !Array.isArray(order.items) || order.items.length === 0) {
      throw new BadRequestException('An order is { id, customer: { email, address }, items: [{ sku, price, quantity }] }.');
    }
    return this.orders.place(order);
  }

  @Post(':id/approval')
  @HttpCode(202)
  async approve(@Param('id') id: string, @Body() approval: { approved: boolean; by: string }) {
    // Because of the key, a second click has no effect.
    return this.signals.send(id, 'approval', approval, { key: 'approval' });
  }

  @Delete(':id')
  @HttpCode(202)
  async cancel(@Param('id') id: string) {
    await this.orders.cancel(id);
    return { id };
  }

  @Get(':id')
  show(@Param('id') id: string) {
    return this.orders.show(id);
  }
}
