// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {FiatToken, FiatTokenDeployer} from "./FiatToken.sol";

interface Console { function log(string calldata, uint256) external view; }

contract GasTest is BaseTest {
    FiatToken internal usdc = FiatTokenDeployer.deploy(vm.addr(98));

    function usdcTerms(uint256 intent) private view returns (Terms memory terms) {
        terms = termsOf(intent);
        terms.settleToken = address(usdc);
    }
    function setUp() public override {
        usdc.mint(payout, 5); usdc.mint(feeRecipient, 5);
        usdc.mint(hub.inboxOf(usdcTerms(0)), 100e6);
        usdc.mint(stranger, 100e6);
        hub.settle(usdcTerms(0));
        usdc.mint(hub.inboxOf(usdcTerms(0)), 100e6);
        usdc.mint(hub.inboxOf(usdcTerms(1)), 100e6);
        uint256 n=100;
        for (uint256 i = 2; i < n+2; ++i) usdc.mint(hub.inboxOf(usdcTerms(i)), 100e6);
    }
    function log(string memory name, uint256 used) internal view {
        (bool ok,) = 0x000000000000000000636F6e736F6c652e6c6f67.staticcall(abi.encodeWithSignature("log(string,uint256)", name, used)); ok;
    }
    function test_first() public { Terms memory t = usdcTerms(1); uint256 g = gasleft(); hub.settle(t); log("first", g-gasleft()); }
    function test_repeat() public { Terms memory t = usdcTerms(0); uint256 g = gasleft(); hub.settle(t); log("repeat", g-gasleft()); }
    function test_two() public { vm.prank(stranger); uint256 g = gasleft(); usdc.transfer(payout, 99e6); uint256 a = gasleft(); vm.prank(stranger); uint256 b=gasleft(); usdc.transfer(feeRecipient, 1e5); log("transfer", g-a); log("transfer", b-gasleft()); }
    function test_many() public { Terms[] memory t = new Terms[](100); for (uint256 i=0;i<100;++i) t[i]=usdcTerms(i+2); uint256 g = gasleft(); hub.settleMany(t); log("many first", (g-gasleft())/100); }
    function test_net() public { bytes32[] memory t = new bytes32[](100); for (uint256 i=0;i<100;++i) t[i]=usdcTerms(i+2).salt; Terms memory s = usdcTerms(0); uint256 g = gasleft(); hub.settleNetted(s,t); log("net first", (g-gasleft())/100); }
}
