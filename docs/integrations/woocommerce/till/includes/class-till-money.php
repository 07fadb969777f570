<?php
defined( 'ABSPATH' ) || exit;

/** The sums of orders, with the decimals of their currency: a shop may display more of them, or fewer. */
class Till_Money {
	/** The currencies of ISO 4217 that do not have 2 decimals, by their number. */
	const CURRENCIES = array(
		0 => 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
		3 => 'BHD IQD JOD KWD LYD OMR TND',
		4 => 'CLF UYW',
	);

	public static function decimals( $currency ) {
		foreach ( self::CURRENCIES as $decimals => $codes ) {
			if ( in_array( $currency, explode( ' ', $codes ), true ) ) {
				return $decimals;
			}
		}
		return 2;
	}

	/**
	 * Returns the order's total as text with a point. A total with more decimals than its currency has is rounded to the
	 * nearest sum that exists, as money is: taxes make such totals, and to refuse them would be to sell nothing.
	 */
	public static function total_of( WC_Order $order ) {
		return self::rounded( $order->get_total(), $order->get_currency() );
	}

	/** Returns true if the total has more decimals than its currency. */
	public static function is_rounded( WC_Order $order ) {
		return abs( (float) $order->get_total() - (float) self::total_of( $order ) ) > 0.000001;
	}

	/** Returns true if an invoice is about the order's total. */
	public static function asks_for( WC_Order $order, array $invoice ) {
		$currency = $order->get_currency();
		return $currency === $invoice['settlementCurrency'] && self::total_of( $order ) === self::rounded( $invoice['amount'], $currency );
	}

	private static function rounded( $amount, $currency ) {
		return number_format( (float) $amount, self::decimals( $currency ), '.', '' );
	}
}
