<?php
defined( 'ABSPATH' ) || exit;

use Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType;

/** Offers the payment method in the checkout block. */
final class Till_Blocks extends AbstractPaymentMethodType {
	protected $name = 'till';

	public function initialize() {
		$this->settings = get_option( 'woocommerce_till_settings', array() );
	}

	public function is_active() {
		$gateway = Till_Gateway::instance();
		return null !== $gateway && $gateway->is_available();
	}

	public function get_payment_method_script_handles() {
		$needs = array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' );
		wp_register_script( 'till-blocks', plugins_url( 'assets/blocks.js', TILL_PLUGIN_FILE ), $needs, '0.2.0', true );
		return array( 'till-blocks' );
	}

	public function get_payment_method_data() {
		return array(
			'title'       => $this->get_setting( 'title' ),
			'description' => $this->get_setting( 'description' ),
			'accepted'    => $this->is_active() ? implode( ', ', Till_Gateway::instance()->accepted() ) : '',
			'supports'    => array( 'products' ),
		);
	}
}
