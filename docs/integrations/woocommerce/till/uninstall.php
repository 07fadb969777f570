<?php
/**
 * Removes the key and the secret when the plugin is deleted, and what else only it could read. Orders keep their notes
 * and invoices, and the shop keeps its id, in case that the plugin is installed again.
 */
defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

$till_settings = get_option( 'woocommerce_till_settings' );
if ( is_array( $till_settings ) ) {
	unset( $till_settings['api_key'], $till_settings['webhook_secret'] );
	$till_settings['enabled'] = 'no';
	update_option( 'woocommerce_till_settings', $till_settings );
}
delete_option( 'till_deliveries' );
delete_transient( 'till_accepted' );

global $wpdb;
$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name LIKE %s", $wpdb->esc_like( 'till_lock_' ) . '%' ) );
